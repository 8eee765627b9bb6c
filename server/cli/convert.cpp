// profd convert: a profile in another format.
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "formats/profd/profd_file.h"
#include "server/cli/profile_options.h"
#include "server/cli/report_text.h"
#include "server/cli/write_file.h"

namespace profd {
namespace {

struct Options {
  ProfileOptions profile;
  std::string output, to;
};

std::string wanted_format(const Options& options) {
  if (!options.to.empty()) return options.to;
  const std::size_t slash = options.output.rfind('/');
  const std::size_t dot = options.output.rfind('.');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) return {};
  return options.output.substr(dot + 1);
}

int write_native(const Options& options, const Console& console) {
  ThreadExecutor executor;
  auto opened = open_file_of(options.profile, console, executor);
  if (!opened) return console.fail(opened.error().message);
  const ProfdWriteOptions how{.decision = &opened->file.decision, .report = &opened->file.report};
  const auto written = write_file(
      options.output, [&](const ByteSink& sink) { return write_profd(opened->file.profiles, how, sink); });
  if (!written) return console.fail(file_message(options.output, written.error()));
  if (opened->file.report.has_losses()) {
    console.note("Some of " + options.profile.file + " could not be read; `profd check` says what.");
  }
  return kExitOk;
}

int convert(const Options& options, const Console& console) {
  const std::string to = wanted_format(options);
  if (to.empty()) {
    return console.fail(
        fmt::format("{} does not say what to write; give it the extension .profd or add --to profd",
                    options.output),
        kExitUsage);
  }
  if (to == "profd") return write_native(options, console);
  return console.fail(fmt::format("profd does not write {}; it writes: profd", to), kExitUsage);
}

}  // namespace

void add_convert(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<Options>();
  CLI::App* app = root.add_subcommand("convert", "Write a profile in another format");
  add_profile_options(*app, options->profile, false);
  app->add_option("OUT", options->output, "The file to write")->required();
  app->add_option("--to", options->to, "The format to write, when the extension does not say")
      ->type_name("ID");
  app->footer(
      "Examples:\n  profd convert cpu.pprof cpu.profd\n  profd convert --to profd trace.json out.bin");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return convert(*options, console); };
  });
}

}  // namespace profd
