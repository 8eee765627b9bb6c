// profd symbolize: what is known of the code of a profile's binaries, and a copy that needs them no more.
#include <memory>

#include <CLI/CLI.hpp>

#include "server/cli/file_error.h"
#include "server/cli/modules_text.h"
#include "server/cli/write_profile.h"
#include "server/engine/pick_profile.h"

namespace profd {
namespace {

constexpr std::size_t kAllModules = 10'000;

struct SymbolizeCommand {
  WriteProfileOptions write;
  bool json = false;
};

Result<std::string> modules_report(const SymbolizeCommand& options, const LoadedProfiles& loaded,
                                   const std::vector<ModuleLookup>& lookups, const Console& console) {
  PROFD_TRY(const std::size_t picked, pick_profile(loaded.profiles, options.write.profile.profile));
  PROFD_TRY(const ModulesAnswer answer,
            modules_answer(*loaded.profiles[picked], lookups, kAllModules, StopToken{}));
  if (!options.json) return modules_table(console, answer);
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.field("file", shown_file(options.write.profile));
  json.field("metric", answer.metric);
  json.field("addresses", answer.n_frames);
  json.field("known", answer.n_known);
  json.key("modules");
  write_modules(answer, json);
  json.end_object();
  return out + "\n";
}

int symbolize(const SymbolizeCommand& options, const Console& console) {
  if (options.write.profile.no_symbols)
    return console.fail("--no-symbols is for commands that look for names by the way", kExitUsage);
  if (!options.write.output.path.empty()) {
    WriteProfileOptions write = options.write;
    write.look = [&](const LoadedProfiles& loaded, const std::vector<ModuleLookup>& lookups) {
      // What is written goes to stdout alone.
      if (write.output.path == "-") return;
      if (const auto text = modules_report(options, loaded, lookups, console); text) console.print(*text);
    };
    return write_profile(write, console);
  }
  ThreadExecutor executor;
  std::vector<ModuleLookup> lookups;
  const auto load = load_of(options.write.profile, console, executor, &lookups);
  if (!load) return console.fail(load.error().message);
  const auto text = modules_report(options, *load->profiles, lookups, console);
  if (!text) return console.fail(file_error_text(shown_file(options.write.profile), text.error()));
  return console.print(*text);
}

}  // namespace

void add_symbolize(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<SymbolizeCommand>();
  CLI::App* app = root.add_subcommand(
      "symbolize", "What is known of the code of a profile's binaries, and a copy that needs them no more");
  add_profile_options(*app, options->write.profile);
  app->add_option("-o,--output", options->write.output.path,
                  "Write the profile with its names; - is standard output")
      ->type_name("OUT");
  add_force(*app, options->write.output);
  app->add_option("--to", options->write.to,
                  "The format to write, when the extension does not say: " + written_formats())
      ->type_name("ID");
  app->add_flag("--json", options->json, "One JSON object, see docs/cli.md");
  app->footer(
      "Examples:\n  profd symbolize perf.data\n  profd symbolize perf.data --debug-dir ~/builds/1.4 -o "
      "named.profd\n  profd symbolize gmon.out --binary ./app");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return symbolize(*options, console); };
  });
}

}  // namespace profd
