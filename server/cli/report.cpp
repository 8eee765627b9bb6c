// profd report: sections, functions, ranges within them, as text to read from top to bottom.
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "server/cli/arguments.h"
#include "server/cli/print_answer.h"
#include "server/cli/profile_options.h"
#include "server/cli/project_here.h"
#include "server/dialect/psp/convert_ranges.h"

namespace profd {
namespace {

struct ReportOptions {
  ProfileOptions profile;
  ReportRequest request;
  double min_percent = 0.5;
  bool json = false;
};

std::string colored_report(const ReportAnswer& answer, const Console& console) {
  std::string out;
  for (std::size_t i = 0; i < answer.lines.size(); ++i) {
    const std::string& line = answer.lines[i];
    const std::int32_t row = answer.line_rows[i];
    if (row < 0) {
      out += line.starts_with("% of ") ? console.out.dim(line) : console.out.bold(line);
    } else {
      const bool is_function = answer.rows.kind[static_cast<std::size_t>(row)] == ReportRowKind::function;
      out += is_function ? line : console.out.dim(line);
    }
    out += '\n';
  }
  return out;
}

int report_of(const ReportOptions& options, const ProfileOptions& file, const FileTurn& turn,
              const Console& console) {
  ThreadExecutor executor;
  auto view = open_view(file, console, executor);
  if (!view) return console.fail(view.error().message);
  ReportRequest request = options.request;
  request.open = view->open;
  request.spec = view->spec;
  request.min_share = options.min_percent / 100;
  if (request.limit == 0) request.limit = std::numeric_limits<std::size_t>::max();
  // Text has no places in the workspace.
  if (options.json) request.workspace = sources_here({}, console).workspace;
  auto answer = report_answer(*view->views, request, StopToken{});
  int code = kExitOk;
  if (options.json || !answer) {
    code = print_answer<psp::ReportRequest>(std::move(answer), shown_file(file), console);
  } else {
    if (answer->head.excluded) console.note(answer->head.excluded->text);
    if (!answer->head.estimated.empty()) console.note(answer->head.estimated);
    code = console.print(colored_report(*answer, console));
  }
  keep_in_cache(*view);
  return turn.end(code);
}

int report(const ReportOptions& options, const Console& console) {
  if (const int code = refuse_trees(options.profile, console); code != kExitOk) return code;
  return for_each_file(options.profile, console, !options.json,
                       [&](const ProfileOptions& file, const FileTurn& turn) {
                         return report_of(options, file, turn, console);
                       });
}

}  // namespace

void add_report(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* app = root.add_subcommand(
      "report", "Sections, functions, and where within them their cost is, to read from top to bottom");
  add_profile_options(*app, options->profile, true);
  ReportRequest& request = options->request;
  app->add_option("--function", request.function, "Only this function, with its ranges")->type_name("NAME");
  app->add_flag("--ranges", request.ranges, "With the ranges of every function that is listed");
  add_choice(*app, "--by", "--by", request.by,
             Choices<RangeUnit>{{"auto", RangeUnit::automatic},
                                {"line", RangeUnit::line},
                                {"address", RangeUnit::address},
                                {"bytecode", RangeUnit::bytecode}},
             "What ranges are; otherwise lines where they are known, else bytecodes, else addresses");
  add_choice(*app, "--sections", "--sections", request.sections,
             Choices<ReportSections>{{"auto", ReportSections::automatic},
                                     {"kind", ReportSections::kind},
                                     {"module", ReportSections::module},
                                     {"none", ReportSections::none}},
             "What sections are; otherwise modules where there are two to eight, else kinds of code");
  add_real(*app, "--min-share", "--min-share", options->min_percent, 0, 100,
           "Functions below this share of their section, in percent, are one row; otherwise 0.5")
      ->type_name("PERCENT");
  add_number(*app, "-n", "-n", request.limit, 0, kMostRows,
             "Functions of a section; 0 lists all above --min-share, otherwise 100");
  app->add_flag("--json", options->json, "The answer of view/report, see docs/protocol.md");
  app->footer(
      "Examples:\n  profd report cpu.pprof\n  profd report --ranges --min-share 5 cpu.pprof\n  profd report "
      "--function smooth --by address perf.data\n  profd report --sections module perf.data");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return report(*options, console); };
  });
}

}  // namespace profd
