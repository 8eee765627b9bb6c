// profd convert: a profile in another format.
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "formats/writer.h"
#include "server/cli/profile_options.h"
#include "server/cli/report_text.h"
#include "server/cli/write_file.h"
#include "server/engine/pick_profile.h"
#include "server/feature/escape.h"

namespace profd {
namespace {

struct Options {
  ProfileOptions profile;
  std::string output, to, metric;
};

// What a format cannot hold is said, not dropped in silence.
void note_losses(const LossReport& losses, std::string_view format, const Console& console) {
  for (const ReportRow& row : losses.rows())
    console.note(fmt::format("{} ({}): {}", format, row.count, sanitize_text(row.message)));
}

int write_as(const FormatWriter& writer, const Options& options, const Console& console) {
  ThreadExecutor executor;
  auto opened = open_file_of(options.profile, console, executor);
  if (!opened) return console.fail(opened.error().message);
  std::vector<ProfilePtr> profiles = opened->file.profiles;
  if (!options.profile.profile.empty()) {
    const auto picked = pick_profile(profiles, options.profile.profile);
    if (!picked) return console.fail(file_message(options.profile.file, picked.error()));
    profiles = {ProfilePtr(profiles[*picked])};
  }
  WriteOptions how;
  how.metric = options.metric;
  how.decision = &opened->file.decision;
  how.report = &opened->file.report;
  LossReport losses;
  const auto written = write_file(
      options.output, [&](const ByteSink& sink) { return writer.write(profiles, how, sink, losses); });
  if (!written) return console.fail(file_message(options.output, written.error()));
  if (opened->file.report.has_losses()) {
    console.note("Some of " + options.profile.file + " could not be read; `profd check` says what.");
  }
  note_losses(losses, writer.info().title, console);
  return kExitOk;
}

int convert(const Options& options, const Console& console) {
  const FormatWriter* writer = options.to.empty() ? writer_for_path(options.output) : find_writer(options.to);
  if (writer != nullptr) return write_as(*writer, options, console);
  if (!options.to.empty())
    return console.fail(fmt::format("profd does not write {}; it writes: {}", options.to, writer_names()),
                        kExitUsage);
  return console.fail(fmt::format("{} does not say what to write; give it the extension of a format or "
                                  "add --to with one of: {}",
                                  options.output, writer_names()),
                      kExitUsage);
}

}  // namespace

void add_convert(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<Options>();
  CLI::App* app = root.add_subcommand("convert", "Write a profile in another format");
  add_profile_options(*app, options->profile, false);
  app->add_option("OUT", options->output, "The file to write; - is standard output")->required();
  app->add_option("--to", options->to,
                  "The format to write, when the extension does not say: " + writer_names())
      ->type_name("ID");
  app->add_option("--metric", options->metric, "The metric to write, where the format holds one")
      ->type_name("NAME");
  app->footer(
      "Examples:\n  profd convert cpu.pprof cpu.profd\n  profd convert --metric alloc_space heap.pprof "
      "heap.folded\n"
      "  profd convert --to speedscope perf.txt - > perf.json");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return convert(*options, console); };
  });
}

}  // namespace profd
