// profd convert: a profile in another format.
#include <memory>

#include <CLI/CLI.hpp>

#include "server/cli/write_profile.h"

namespace profd {

void add_convert(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<WriteProfileOptions>();
  CLI::App* app = root.add_subcommand("convert", "Write a profile or a view of it in another format");
  add_profile_options(*app, options->profile);
  app->add_option("OUT", options->output.path, "The file to write; - is standard output")->required();
  add_force(*app, options->output);
  app->add_option("--to", options->to,
                  "The format to write, when the extension does not say: " + written_formats())
      ->type_name("ID");
  app->add_flag("--quiet", options->quiet, "Say nothing of what the format cannot hold; errors are said");
  app->footer(
      "Examples:\n  profd convert cpu.pprof cpu.profd\n  profd convert --metric alloc_space heap.pprof "
      "heap.folded\n"
      "  profd convert --to speedscope perf.txt - > perf.json\n"
      "  profd convert --view 'flat by file' cpu.pprof files.csv\n"
      "  profd convert --filter 'drop module libc.so.6' cpu.pprof rest.pprof");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return write_profile(*options, console); };
  });
}

}  // namespace profd
