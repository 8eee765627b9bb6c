// profd top: the flat list.
#include <algorithm>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/metric_options.h"
#include "server/cli/print_answer.h"
#include "server/cli/profile_options.h"
#include "server/cli/report_text.h"
#include "server/cli/row_text.h"
#include "server/cli/rows.h"
#include "server/feature/escape.h"
#include "server/feature/estimate.h"
#include "server/feature/fitted_name.h"
#include "server/feature/table_answer.h"
#include "server/feature/text.h"

namespace profd {
namespace {

struct TopOptions {
  ProfileOptions profile;
  std::size_t n = 20;
  SortBy sort = SortBy::self;
  std::string sort_metric;
  bool json = false;
  RowOptions rows;
  bool full_names = false;
};

std::string top_text(const TopOptions& options, const Console& console, const OpenView& view,
                     const TableAnswer& answer) {
  const Selection& selection = view.selection();
  const RowColumns& rows = answer.rows;
  std::string out = fmt::format("{} {}", console.out.bold(sanitize_text(view.metric().name)),
                                sanitize_text(answer.head.view_total.text));
  if (!view.spec.filters.empty()) {
    out += fmt::format(", {} of the whole profile",
                       format_share(selection.sums->total, selection.sums->profile_total));
  }
  if (selection.sums->saturated) out += ", at least: a sum passed 2^63";
  if (answer.head.excluded) out += "\n" + console.out.warning(sanitize_text(answer.head.excluded->text));
  if (!answer.head.estimated.empty())
    out += "\n" + console.out.dim(answer.head.estimated + ", " + kEstimateMark + " marks estimates");
  if (!answer.recursion.empty()) out += "\n" + console.out.dim(answer.recursion);
  const MetricHeads heads = metric_heads(answer.columns);
  out += "\n" + console.out.dim(fmt::format("{:>18}  {:>18}", "self", "total") + heads.text) + "\n";
  const auto columns = static_cast<std::size_t>(console.out.columns);
  const std::vector<std::string> names = row_names(answer, options.full_names);
  for (std::size_t i = 0; i < rows.name.size(); ++i) {
    const double heat =
        std::abs(as_double(rows.self[i]) / std::max(1e-300, std::abs(as_double(selection.sums->total))));
    const std::string numbers =
        right_aligned(sanitize_text(rows.self_text[i]), 9) + "  " + right_aligned(rows.self_share[i], 7);
    out += console.out.heat(numbers, heat) + "  ";
    out += right_aligned(sanitize_text(rows.total_text[i]), 9) + "  " + right_aligned(rows.total_share[i], 7);
    out += metric_cells(answer.columns, heads, i);
    const std::string place = sanitize_text(place_text(answer, i));
    const std::size_t used = 40 + display_width(heads.text);
    const std::size_t room = columns > used + 20 ? columns - used : 20;
    const std::string name = options.full_names ? names[i] : fitted_name(names[i], room);
    out += "  " + name;
    // What the name says already is not said twice.
    if (!place.empty() && name.find(place) == std::string::npos &&
        display_width(name) + display_width(place) + 2 <= room) {
      out += "  " + console.out.dim(place);
    }
    out += '\n';
  }
  const auto add_rest = [&](const Amount& amount, const std::string& what) {
    out += console.out.dim(fmt::format("{:>9}  {:>7}  {}", sanitize_text(amount.text),
                                       view.prepared.whole.share_text(amount.value), what)) +
           "\n";
  };
  if (answer.remainder)
    add_rest(answer.remainder->amount,
             fmt::format("in {} more; -n shows more of them", format_count(answer.remainder->count)));
  if (answer.own) add_rest(*answer.own, "in stacks without a frame that is shown");
  return out;
}

int top_of(const TopOptions& options, const ProfileOptions& file, const FileTurn& turn,
           const Console& console) {
  ThreadExecutor executor;
  auto view = open_view(file, console, executor);
  if (!view) return console.fail(view.error().message);
  std::vector<std::string> named = column_metrics(file);
  if (!options.sort_metric.empty()) named.push_back(options.sort_metric);
  if (const int code = check_metrics(file, *view, named, console); code != kExitOk) return code;
  TableAnswerRequest request;
  request.metrics = column_metrics(file);
  request.sort_metric = options.sort_metric;
  request.open = view->open;
  request.spec = view->spec;
  request.spec.shape = Shape::flat;
  request.spec.focus.clear();
  request.sort = options.sort;
  request.limit = options.n == 0 ? std::numeric_limits<std::size_t>::max() : options.n;
  auto answer = table_answer(*view->views, request, StopToken{});
  int code = kExitOk;
  if (answer && options.rows.any()) {
    RowOptions rows = options.rows;
    rows.header = turn.first();
    code = console.print(rows_text(rows, console, *answer, answer->columns));
    note_rest(answer->head, answer->remainder, console);
    if (answer->own)
      console.note(fmt::format("{} in stacks without a frame that is shown", answer->own->text));
  } else if (options.json || !answer) {
    code = print_answer<psp::TableRequest>(std::move(answer), shown_file(file), console);
  } else {
    code = console.print(top_text(options, console, *view, *answer));
  }
  keep_in_cache(*view);
  return turn.end(code);
}

int top(const TopOptions& options, const Console& console) {
  if (const int code = refuse_trees(options.profile, console); code != kExitOk) return code;
  return for_each_file(
      options.profile, console, !options.json && !options.rows.any(),
      [&](const ProfileOptions& file, const FileTurn& turn) { return top_of(options, file, turn, console); });
}

}  // namespace

void add_top(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<TopOptions>();
  CLI::App* app = root.add_subcommand("top", "The hottest functions, lines, files or modules");
  add_profile_options(*app, options->profile, true);
  add_number(*app, "-n", "-n", options->n, 0, kMostRows, "Rows; 0 shows all, otherwise 20");
  add_choice(*app, "--sort", "--sort", options->sort,
             Choices<SortBy>{{"self", SortBy::self}, {"total", SortBy::total}},
             "What the rows are ordered by; otherwise self");
  app->add_option_function<std::string>(
         "--sort-metric",
         [options](const std::string& name) {
           options->sort_metric = name;
           options->profile.names_metrics = true;
         },
         "--sort is of this metric, stored or by formula; rows without a value come last")
      ->type_name("METRIC");
  add_derive_option(*app, options->profile);
  add_column_option(*app, options->profile);
  app->add_flag("--full", options->full_names, "Whole names, however long");
  app->add_flag("--json", options->json, "The answer of view/table, see docs/protocol.md");
  add_row_options(*app, options->rows);
  app->footer(
      "Examples:\n  profd top cpu.pprof\n  profd top --csv -n 0 *.pprof > functions.csv\n  profd top --sort "
      "total -n 50 --granularity file cpu.pprof\n"
      "  profd top --filter 'keep function /^http/' --json cpu.pprof\n"
      "  profd top --derive 'cpi=cycles / instructions' --sort-metric cpi perf.data");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return top(*options, console); };
  });
}

}  // namespace profd
