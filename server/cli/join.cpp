// profd join: what several tools measured of one program, side by side.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/file_error.h"
#include "server/cli/joined_path.h"
#include "server/cli/metric_options.h"
#include "server/cli/print_answer.h"
#include "server/cli/profile_options.h"
#include "server/cli/row_text.h"
#include "server/cli/rows.h"
#include "server/feature/escape.h"
#include "server/feature/fitted_name.h"
#include "server/feature/join_answer.h"
#include "server/platform/memory.h"

namespace profd {
namespace {

struct JoinOptions {
  ProfileOptions profile;
  std::string shape;
  bool paths = false;
  std::size_t n = 20;
  bool totals = false, json = false, full_names = false;
  RowOptions rows;
};

constexpr std::size_t kValueColumns = 9, kShareColumns = 7, kColumnGap = 2;
constexpr std::size_t kInputColumns = kValueColumns + kShareColumns + kColumnGap;

// What a row of an input is called.
std::string_view rows_word(Granularity granularity) {
  switch (granularity) {
    case Granularity::address:
      return "addresses";
    case Granularity::line:
      return "lines";
    case Granularity::file:
      return "files";
    case Granularity::module:
      return "modules";
    case Granularity::function:
      break;
  }
  return "functions";
}

std::string inputs_text(const Console& console, const OpenView& view, const JoinAnswer& answer) {
  std::size_t widest = 0;
  for (const JoinInput& input : answer.inputs)
    widest = std::max(widest, display_width(sanitize_text(input.name)));
  std::string out;
  for (const JoinInput& input : answer.inputs)
    out +=
        fmt::format("{}  {} {}: {} of {} {} are in another profile, with {} of it\n",
                    left_aligned(sanitize_text(input.name), widest),
                    console.out.bold(sanitize_text(input.metric)), sanitize_text(input.total.text),
                    format_count(std::uint64_t{input.n_matched}), format_count(std::uint64_t{input.n_rows}),
                    rows_word(view.spec.granularity), input.matched.share_text);
  if (std::all_of(answer.inputs.begin(), answer.inputs.end(),
                  [](const JoinInput& input) { return input.n_matched == 0; }))
    out += console.out.warning(fmt::format(
               "No two profiles have one of the {} in common, by their names and files (or modules).",
               rows_word(view.spec.granularity))) +
           "\n";
  return out;
}

std::string text_of(const JoinOptions& options, const Console& console, const OpenView& view,
                    const JoinAnswer& answer) {
  const auto columns = static_cast<std::size_t>(console.out.columns);
  const std::size_t used = answer.columns.size() * kInputColumns;
  const std::size_t room = columns > used + 24 ? columns - used : 24;
  const std::vector<std::string> names =
      options.paths ? path_names(answer.rows, options.full_names ? std::nullopt : std::optional(room))
                    : row_names(answer.rows, options.full_names);
  std::string out = inputs_text(console, view, answer);
  for (const std::string& warning : answer.rows.head.warnings)
    out += console.out.warning(sanitize_text(warning)) + "\n";
  out += '\n';
  std::string head;
  for (const MetricRows& column : answer.columns)
    head += right_aligned(cut_to_width(sanitize_text(column.metric), kInputColumns - kColumnGap),
                          kInputColumns - kColumnGap) +
            std::string(kColumnGap, ' ');
  out += console.out.dim(head + (options.totals ? "total" : "self")) + "\n";
  for (std::size_t row = 0; row < names.size(); ++row) {
    for (std::size_t i = 0; i < answer.columns.size(); ++i) {
      const MetricRows& column = answer.columns[i];
      const std::optional<Value>& value = options.totals ? column.total[row] : column.self[row];
      const std::string text =
          value ? sanitize_text(options.totals ? column.total_text[row] : column.self_text[row]) : "";
      const std::string share = value ? format_share(*value, answer.inputs[i].total.value) : "";
      out += right_aligned(text, kValueColumns) + console.out.dim(right_aligned(share, kShareColumns)) +
             std::string(kColumnGap, ' ');
    }
    out += (options.full_names || options.paths ? names[row] : fitted_name(names[row], room)) + "\n";
  }
  if (answer.rows.n_rows > names.size())
    out += console.out.dim(fmt::format("{} more rows; -n shows more of them\n",
                                       format_count(std::uint64_t{answer.rows.n_rows - names.size()})));
  return out;
}

// Two columns a profile, named after its metric.
std::string csv_of(const JoinOptions& options, const Console& console, const JoinAnswer& answer) {
  std::vector<std::string> values;
  for (const MetricRows& column : answer.columns)
    for (const char* what : {"self ", "total "}) values.push_back(what + column.metric);
  std::vector<std::string_view> columns{options.paths ? "path" : "name", "file", "line", "module"};
  columns.insert(columns.end(), values.begin(), values.end());
  RowText rows(options.rows, columns, console.out.is_terminal);
  const auto add = [&](const std::optional<Value>& value) {
    if (value)
      rows.number(*value);
    else
      rows.nothing();
  };
  for (std::size_t row = 0; row < answer.rows.rows.name.size(); ++row) {
    if (options.paths)
      add_place(rows, answer.rows, row, joined_path(answer.rows.path_of(row)));
    else
      add_place(rows, answer.rows, row);
    for (const MetricRows& column : answer.columns) {
      add(column.self[row]);
      add(column.total[row]);
    }
  }
  return rows.take();
}

int print_json(const JoinOptions& options, const Console& console, const OpenView& view) {
  TableAnswerRequest request;
  request.open = view.open;
  request.spec = view.spec;
  request.spec.shape = Shape::flat;
  request.spec.focus.clear();
  request.metrics = main_metrics(view.profile(), view.spec.metric);
  if (request.spec.metric.empty()) request.spec.metric = request.metrics[0];
  std::erase(request.metrics, request.spec.metric);
  request.limit = options.n == 0 ? std::numeric_limits<std::size_t>::max() : options.n;
  if (options.totals) request.sort = SortBy::total;
  return print_answer<psp::TableRequest>(table_answer(*view.views, request, StopToken{}),
                                         shown_file(options.profile), console);
}

int join(JoinOptions options, const Console& console) {
  ProfileOptions& profile = options.profile;
  if (profile.files.size() < 2) return console.fail("a join is of two profiles or more", kExitUsage);
  profile.together = Composed::join;
  profile.file = profile.files[0];
  profile.runs.assign(profile.files.begin() + 1, profile.files.end());
  const auto paths = takes_paths(profile, options.shape);
  if (!paths) return console.fail(paths.error().message, kExitUsage);
  options.paths = *paths;
  if (options.paths && options.json)
    return console.fail("a tree as JSON is what profd tree --json 'join://?of=A&of=B' prints", kExitUsage);
  ThreadExecutor executor;
  auto view = open_view(profile, console, executor);
  if (!view) return console.fail(view.error().message);
  int code = kExitOk;
  if (options.json) {
    code = print_json(options, console, *view);
  } else {
    JoinRequest request;
    request.open = view->open;
    request.spec = view->spec;
    if (!options.paths) request.spec.shape = Shape::flat;
    request.paths = options.paths;
    request.limit = options.n == 0 ? std::numeric_limits<std::size_t>::max() : options.n;
    const auto answer = join_answer(*view->views, request, StopToken{});
    if (!answer)
      code = console.fail(file_error_text(shown_file(profile), answer.error()));
    else
      code = console.print(options.rows.any() ? csv_of(options, console, *answer)
                                              : text_of(options, console, *view, *answer));
  }
  keep_in_cache(*view);
  return end_process(code);
}

}  // namespace

void add_join(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<JoinOptions>();
  CLI::App* app = root.add_subcommand("join", "What several tools measured of one program, side by side");
  app->add_option("FILE", options->profile.files, "The profiles, of one program")
      ->option_text("...")
      ->required();
  add_view_options(*app, options->profile);
  add_derive_option(*app, options->profile);
  add_shape(*app, options->shape);
  add_number(*app, "-n", "-n", options->n, 0, kMostRows, "Rows; 0 shows all, otherwise 20");
  app->add_flag("--total", options->totals, "Of totals, in place of selfs");
  app->add_flag("--full", options->full_names, "Whole names, however long");
  app->add_flag("--json", options->json,
                "The answer of view/table with a column a profile, see docs/protocol.md");
  add_row_options(*app, options->rows);
  app->footer(
      "Examples:\n  profd join cpu.perf.txt heap.pprof\n  profd join --csv -n 0 cpu.pprof wall.jfr > "
      "both.csv\n"
      "  profd join --shape bottom-up cpu.pprof heap.pprof\n\nWhat other commands say of it: profd tree "
      "'join://?of=/a/cpu.pprof&of=/a/heap.pprof'");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return join(*options, console); };
  });
}

}  // namespace profd
