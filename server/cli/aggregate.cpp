// profd aggregate: runs, ranks or processes as one, with how their values lie.
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/metric_options.h"
#include "server/cli/print_answer.h"
#include "server/cli/profile_options.h"
#include "server/cli/row_text.h"
#include "server/cli/rows.h"
#include "server/cli/write_profile.h"
#include "server/feature/escape.h"
#include "server/feature/fitted_name.h"
#include "server/feature/sparkline.h"
#include "server/feature/spread_answer.h"
#include "server/platform/memory.h"

namespace profd {
namespace {

struct AggregateOptions {
  ProfileOptions profile;
  std::size_t n = 20;
  std::string order = "sum";
  std::vector<std::string> columns, where;
  bool totals = false, json = false, full_names = false;
  RowOptions rows;
  OutputFile output;
  std::string to;
};

std::string text_of(const AggregateOptions& options, const Console& console, const SpreadAnswer& answer) {
  const std::vector<std::string> names = row_names(answer, options.full_names);
  std::string out =
      fmt::format("{} {} in {} profiles: {} … {}\n", console.out.bold(sanitize_text(answer.head.metric)),
                  sanitize_text(answer.head.view_total.text), answer.inputs.size(),
                  sanitize_text(answer.inputs.front()), sanitize_text(answer.inputs.back()));
  for (const std::string& warning : answer.head.warnings)
    out += console.out.warning(sanitize_text(warning)) + "\n";
  std::string head =
      fmt::format("\n{:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  ", options.totals ? "total" : "self", "mean",
                  "least", "most", "lost", "uneven");
  for (const StatisticColumn& column : answer.columns.more) head += fmt::format("{:>9}  ", column.statistic);
  out += console.out.dim(head + "by profile\n");
  const auto columns = static_cast<std::size_t>(console.out.columns);
  const std::size_t line = std::min<std::size_t>(answer.inputs.size(), 24);
  const std::size_t used = 68 + line + 11 * answer.columns.more.size(),
                    room = columns > used + 20 ? columns - used : 20;
  const SpreadColumns& spread = answer.columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& sum = options.totals ? answer.rows.total_text[i] : answer.rows.self_text[i];
    for (const std::string& cell : {sum, spread.mean_text[i], spread.min_text[i], spread.max_text[i],
                                    spread.lost_text[i], spread.imbalance_text[i]})
      out += right_aligned(sanitize_text(cell), 9) + "  ";
    for (const StatisticColumn& column : spread.more)
      out += right_aligned(sanitize_text(column.text[i]), 9) + "  ";
    out += console.out.more(left_aligned(sparkline(spread.series[i], line), line)) + "  " +
           (options.full_names ? names[i] : fitted_name(names[i], room)) + "\n";
  }
  if (answer.n_rows > names.size())
    out += console.out.dim(fmt::format("{} more rows; -n shows more of them\n",
                                       format_count(std::uint64_t{answer.n_rows - names.size()})));
  if (answer.n_left_out > 0)
    out += console.out.dim(
        fmt::format("{} rows that --where leaves out\n", format_count(std::uint64_t{answer.n_left_out})));
  return out;
}

// A column an input, then those that were asked for.
std::string csv_of(const AggregateOptions& options, const Console& console, const SpreadAnswer& answer) {
  std::vector<std::string_view> columns{"name", "file", "line", "module"};
  for (const std::string& input : answer.inputs) columns.emplace_back(input);
  for (const StatisticColumn& more : answer.columns.more) columns.emplace_back(more.statistic);
  RowText rows(options.rows, columns, console.out.is_terminal);
  for (std::size_t i = 0; i < answer.rows.name.size(); ++i) {
    add_place(rows, answer, i);
    for (const double value : answer.columns.series[i]) rows.number(Value{value});
    for (const StatisticColumn& more : answer.columns.more)
      if (more.value[i])
        rows.number(Value{*more.value[i]});
      else
        rows.nothing();
  }
  return rows.take();
}

Result<SpreadRequest> request_of(const AggregateOptions& options) {
  SpreadRequest request;
  request.totals = options.totals;
  request.where = options.where;
  request.limit = options.n == 0 ? std::numeric_limits<std::size_t>::max() : options.n;
  PROFD_TRY(request.order, parse_statistic(options.order));
  for (const std::string& column : options.columns) {
    PROFD_TRY(const Statistic statistic, parse_statistic(column));
    request.more.push_back(statistic);
  }
  return request;
}

int aggregate(AggregateOptions options, const Console& console) {
  ProfileOptions& profile = options.profile;
  profile.together = Composed::aggregate;
  profile.file = profile.files[0];
  profile.runs.assign(profile.files.begin() + 1, profile.files.end());
  if (!options.output.path.empty()) return write_profile({profile, options.output, options.to}, console);
  if (!options.to.empty()) return console.fail("--to is of the file that -o names", kExitUsage);
  if (const int code = refuse_trees(profile, console); code != kExitOk) return code;
  auto asked = request_of(options);
  if (!asked) return console.fail(asked.error().message, kExitUsage);
  ThreadExecutor executor;
  auto view = open_view(profile, console, executor);
  if (!view) return console.fail(view.error().message);
  SpreadRequest request = std::move(*asked);
  request.open = view->open;
  request.spec = view->spec;
  auto answer = spread_answer(*view->views, request, StopToken{});
  int code = kExitOk;
  if (answer && options.rows.any())
    code = console.print(csv_of(options, console, *answer));
  else if (options.json || !answer)
    code = print_answer<psp::SpreadRequest>(std::move(answer), shown_file(profile), console);
  else
    code = console.print(text_of(options, console, *answer));
  keep_in_cache(*view);
  return end_process(code);
}

}  // namespace

void add_aggregate(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<AggregateOptions>();
  CLI::App* app =
      root.add_subcommand("aggregate", "Runs, ranks or processes as one, and how their values lie");
  app->add_option("FILE", options->profile.files, "The profiles, in order")->option_text("...")->required();
  add_view_options(*app, options->profile);
  add_derive_option(*app, options->profile);
  add_number(*app, "-n", "-n", options->n, 0, kMostRows, "Rows; 0 shows all, otherwise 20");
  app->add_option(
         "--sort", options->order,
         "What the rows are ordered by, largest first; otherwise sum. Others: mean, least, most, median, a "
         "percentile as p95, deviation, variation, uneven (most beside the mean), lost (what all wait for "
         "the slowest: (most - mean) for each profile)")
      ->type_name("STATISTIC");
  app->add_option("--column", options->columns, "A further column, as --sort names them; may be given again")
      ->type_name("STATISTIC");
  app->add_option(
         "--where", options->where,
         "Rows alone that hold this, as 'lost >= 5ms', 'p95 <= 2MB' or 'uneven >= 10%'; may be given again")
      ->type_name("CONDITION");
  app->add_flag("--total", options->totals, "Of totals, in place of selfs");
  app->add_flag("--full", options->full_names, "Whole names, however long");
  app->add_flag("--json", options->json, "The answer of view/spread, see docs/protocol.md");
  add_row_options(*app, options->rows);
  app->add_option("-o", options->output.path,
                  "Write the sum as a profile in place of a table; - is standard output")
      ->type_name("FILE");
  app->add_option("--to", options->to,
                  "The format of -o, when the extension does not say: " + written_formats())
      ->type_name("ID");
  add_force(*app, options->output);
  app->footer(
      "Examples:\n  profd aggregate rank-*.perf.txt --sort lost\n  profd aggregate rank-*.perf.txt --column "
      "p95 "
      "--where 'uneven >= 10%'\n  profd aggregate run-?.pprof --csv -n 0 > "
      "functions.csv\n"
      "  profd aggregate rank-*.perf.txt -o all.profd\n\nWhat other commands say of all together: profd tree "
      "'aggregate://?of=/a/1.pprof&of=/a/2.pprof'");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return aggregate(*options, console); };
  });
}

}  // namespace profd
