// profd diff: what became of a profile.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/completion.h"
#include "server/cli/file_error.h"
#include "server/cli/joined_path.h"
#include "server/cli/metric_options.h"
#include "server/cli/print_answer.h"
#include "server/cli/profile_options.h"
#include "server/cli/row_text.h"
#include "server/cli/rows.h"
#include "server/feature/escape.h"
#include "server/feature/fitted_name.h"
#include "server/feature/path_rows.h"
#include "server/platform/memory.h"

namespace profd {
namespace {

struct DiffOptions {
  ProfileOptions profile;
  std::vector<std::string> files;  // BASE HEAD
  std::vector<std::string> heads;
  std::string shape;
  bool paths = false;  // rows are paths of a tree
  std::size_t n = 20;
  ChangeOrder order = ChangeOrder::size;
  bool json = false;
  RowOptions rows;
  bool full_names = false;
};

constexpr std::size_t kBarColumns = 8;

// As long as the change is beside the largest one, in eighths of a column.
std::string bar_of(double change, double largest) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (largest <= 0) return {};
  const auto eighths = static_cast<std::size_t>(
      std::lround(std::fabs(change) / largest * static_cast<double>(kBarColumns * 8)));
  std::string bar;
  for (std::size_t i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + kEighths[eighths % 8];
}

std::size_t name_room(const Console& console) {
  const auto columns = static_cast<std::size_t>(console.out.columns);
  return columns > 110 ? columns - 83 : 28;
}

std::string rows_of(const DiffOptions& options, const Console& console, const TableAnswer& answer,
                    const std::vector<std::string>& names) {
  const ChangeColumns& changes = *answer.changes;
  double largest = 0;
  for (const Value& change : changes.self_delta) largest = std::max(largest, std::fabs(as_double(change)));
  std::string out = console.out.dim(fmt::format(" {:<{}} {:>20}  {:>9}  {:>9}      {:>20}", "", kBarColumns,
                                                "self", "before", "after", "total")) +
                    "\n";
  const std::size_t room = name_room(console);
  for (std::size_t row = 0; row < names.size(); ++row) {
    const double change = as_double(changes.self_delta[row]);
    const std::string bar = left_aligned(bar_of(change, largest), kBarColumns);
    out += fmt::format(" {} {}  {}  {}  {} {}", change > 0 ? console.out.more(bar) : console.out.less(bar),
                       right_aligned(sanitize_text(changes.self_change[row]), 20),
                       right_aligned(sanitize_text(changes.self_before_text[row]), 9),
                       right_aligned(sanitize_text(changes.self_after_text[row]), 9),
                       change_mark(changes.change[row]),
                       right_aligned(sanitize_text(changes.total_change[row]), 20));
    const std::string name = options.full_names || options.paths ? names[row] : fitted_name(names[row], room);
    const std::string place = sanitize_text(place_text(answer, row));
    out += "  " + name;
    if (!options.paths && !place.empty() && name.find(place) == std::string::npos &&
        display_width(name) + display_width(place) + 2 <= room)
      out += "  " + console.out.dim(place);
    out += '\n';
  }
  if (answer.remainder)
    out += console.out.dim(fmt::format("     {} more rows; -n shows more of them",
                                       format_count(answer.remainder->count))) +
           "\n";
  return out;
}

std::string runs_text(std::size_t n) {
  return n == 1 ? std::string() : fmt::format(", the mean of {} runs", n);
}

std::string suggested_text(const SideTotals& sides) {
  std::string out;
  for (const SuggestedRename& one : sides.suggested) {
    out += fmt::format("{}: {} -> {} ({})", sides.suggested_are_one ? "taken for one" : "perhaps renamed",
                       sanitize_text(one.before), sanitize_text(one.after), one.why);
    if (!sides.suggested_are_one)
      out += fmt::format(": --rename {} or --match=suggested", shell_quoted(sanitize_text(one.rename)));
    out += '\n';
  }
  if (const std::size_t more = sides.n_suggested - sides.suggested.size(); more > 0)
    out += sides.suggested_are_one ? fmt::format("and {} more\n", more)
                                   : fmt::format("and {} more, with --match=suggested\n", more);
  return out;
}

std::string diff_text(const DiffOptions& options, const Console& console, const OpenView& view,
                      const TableAnswer& answer, const std::vector<std::string>& names) {
  const SideTotals& sides = *answer.sides;
  const Composition& composition = *view.profile().composition();
  const ComposedMetric& metric = composition.metrics[view.selection().metric().v];
  std::string out = fmt::format(
      "{} {}{} → {}{}: {}\n", console.out.bold(sanitize_text(composition.of[metric.of].name)),
      sanitize_text(sides.before.text), runs_text(sides.n_before), sanitize_text(sides.after.text),
      runs_text(sides.n_after), console.out.bold(sanitize_text(sides.change)));
  out += console.out.dim(sanitize_text(sides.scale)) + "\n";
  if (!sides.verdict.empty()) out += sanitize_text(sides.verdict) + "\n";
  for (const ShiftText& shift : sides.shifts) out += sanitize_text(shift.text) + "\n";
  for (const std::string& sentence : sides.matched) out += console.out.dim(sanitize_text(sentence)) + "\n";
  out += suggested_text(sides);
  for (const std::string& warning : sides.warnings) out += console.out.warning(sanitize_text(warning)) + "\n";
  out += '\n';
  if (answer.rows.name.empty()) return out + "Nothing became more or less.\n";
  out += rows_of(options, console, answer, names);
  if (answer.unchanged)
    out +=
        console.out.dim(fmt::format("     {} rows are as before: {}", format_count(answer.unchanged->count),
                                    sanitize_text(answer.unchanged->amount.text))) +
        "\n";
  return out;
}

// `paths`: of trees, by row.
std::string csv_text(const DiffOptions& options, const Console& console, const TableAnswer& answer,
                     const PathRows* paths) {
  RowText rows(options.rows,
               {"tag", paths != nullptr ? "path" : "name", "file", "line", "module", "self_base", "self_head",
                "self_delta", "total_base", "total_head", "total_delta", "stands_out"},
               console.out.is_terminal);
  const ChangeColumns& changes = *answer.changes;
  for (std::size_t row = 0; row < answer.rows.name.size(); ++row) {
    rows.text(change_mark(changes.change[row]));
    if (paths != nullptr)
      add_place(rows, answer, row, joined_path(paths->path_of(row)));
    else
      add_place(rows, answer, row);
    rows.number(changes.self_before[row]);
    rows.number(changes.self_after[row]);
    rows.number(changes.self_delta[row]);
    rows.number(changes.total_before[row]);
    rows.number(changes.total_after[row]);
    rows.number(changes.total_delta[row]);
    if (changes.total_standing.empty())
      rows.nothing();
    else
      rows.flag(changes.self_standing[row] == Standing::stands_out ||
                changes.total_standing[row] == Standing::stands_out);
  }
  return rows.take();
}

// `profd diff a b` and `profd diff --base a... --head b...`. False: neither.
bool take_files(DiffOptions& options) {
  ProfileOptions& profile = options.profile;
  if (profile.base.empty() && options.heads.empty()) {
    if (options.files.size() != 2) return false;
    profile.base = {options.files[0]};
    profile.file = options.files[1];
    return true;
  }
  if (!options.files.empty() || profile.base.empty() || options.heads.empty()) return false;
  profile.file = options.heads[0];
  profile.runs.assign(options.heads.begin() + 1, options.heads.end());
  return true;
}

int print_rows(const DiffOptions& options, const Console& console, const OpenView& view,
               const TableAnswer& answer, const std::vector<std::string>& names, const PathRows* paths) {
  if (!options.rows.any()) return console.print(diff_text(options, console, view, answer, names));
  const int code = console.print(csv_text(options, console, answer, paths));
  for (const std::string& warning : answer.sides->warnings) console.note(warning);
  note_rest(answer.head, answer.remainder, console);
  return code;
}

int diff_of_functions(const DiffOptions& options, const Console& console, const OpenView& view) {
  TableAnswerRequest request;
  request.open = view.open;
  request.spec = view.spec;
  request.spec.shape = Shape::flat;
  request.spec.focus.clear();
  request.by_change = options.order;
  request.changed_only = true;
  request.limit = options.n == 0 ? std::numeric_limits<std::size_t>::max() : options.n;
  auto answer = table_answer(*view.views, request, StopToken{});
  if (!answer || options.json)
    return print_answer<psp::TableRequest>(std::move(answer), shown_file(options.profile), console);
  return print_rows(options, console, view, *answer, row_names(*answer, options.full_names), nullptr);
}

int diff_of_paths(const DiffOptions& options, const Console& console, const OpenView& view) {
  PathRowsRequest request;
  request.open = view.open;
  request.spec = view.spec;
  const SideMetrics sides = *sides_of(view.profile(), view.selection().metric());
  for (const MetricId side : {sides.before, sides.after})
    request.metrics.push_back(view.profile().metrics()[side.v].name);
  request.by_change = options.order;
  request.limit = options.n == 0 ? std::numeric_limits<std::size_t>::max() : options.n;
  const auto answer = path_rows(*view.views, request, StopToken{});
  if (!answer) return console.fail(file_error_text(shown_file(options.profile), answer.error()));
  const std::vector<std::string> names =
      options.rows.any()
          ? std::vector<std::string>()
          : path_names(*answer, options.full_names ? std::nullopt : std::optional(name_room(console)));
  return print_rows(options, console, view, *answer, names, &*answer);
}

int diff(DiffOptions options, const Console& console) {
  if (!take_files(options))
    return console.fail(
        "two profiles are compared: profd diff BASE HEAD, or --base A... --head B... for several runs",
        kExitUsage);
  const auto paths = takes_paths(options.profile, options.shape);
  if (!paths) return console.fail(paths.error().message, kExitUsage);
  options.paths = *paths;
  if (options.paths && options.json)
    return console.fail("a tree as JSON is what profd tree --json --base BASE HEAD prints", kExitUsage);
  ThreadExecutor executor;
  auto view = open_view(options.profile, console, executor);
  if (!view) return console.fail(view.error().message);
  const int code =
      options.paths ? diff_of_paths(options, console, *view) : diff_of_functions(options, console, *view);
  keep_in_cache(*view);
  return end_process(code);
}

}  // namespace

void add_diff(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<DiffOptions>();
  CLI::App* app = root.add_subcommand("diff", "What became of a profile: two, or several runs of each side");
  app->add_option("FILE", options->files, "The profile before, and the one after")->option_text("BASE HEAD");
  app->add_option("--base", options->profile.base, "Runs before")->type_name("FILE...");
  app->add_option("--head", options->heads, "Runs after")->type_name("FILE...");
  add_compare_options(*app, options->profile);
  add_view_options(*app, options->profile);
  add_derive_option(*app, options->profile);
  add_shape(*app, options->shape);
  add_number(*app, "-n", "-n", options->n, 0, kMostRows, "Rows; 0 shows all, otherwise 20");
  add_choice(
      *app, "--sort", "--sort", options->order,
      Choices<ChangeOrder>{
          {"change", ChangeOrder::size}, {"worse", ChangeOrder::worse}, {"better", ChangeOrder::better}},
      "What the rows are ordered by; otherwise change, either way");
  app->add_flag("--full", options->full_names, "Whole names, however long");
  app->add_flag("--json", options->json, "The answer of view/table, see docs/protocol.md");
  add_row_options(*app, options->rows);
  app->footer(
      "Examples:\n  profd diff before.pprof after.pprof\n  profd diff --base a1.pprof a2.pprof --head "
      "b1.pprof "
      "b2.pprof\n  profd diff --csv -n 0 before.pprof after.pprof > changes.csv\n"
      "  profd diff --shape bottom-up --csv before.pprof after.pprof\n"
      "  profd flame --base before.pprof after.pprof -o changes.svg\n\n"
      "Every other command compares, too, with --base FILE.");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return diff(*options, console); };
  });
}

}  // namespace profd
