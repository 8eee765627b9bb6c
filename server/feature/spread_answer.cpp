#include "server/feature/spread_answer.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/compare/thin.h"
#include "core/view/series.h"
#include "server/feature/first_needs.h"
#include "server/feature/series_answer.h"
#include "server/feature/text.h"

namespace profd {
namespace {

// Of both columns; of more functions than that the heaviest are looked at.
constexpr std::size_t kMostNumbers = 8'000'000;

struct Row {
  std::size_t row;  // of the flat view
  std::size_t key;  // of the series
  Spread spread;
  double rank;  // what it is sorted by
};

void add_columns(const Spread& spread, std::span<const double> series,
                 const std::vector<std::uint8_t>& measured, const std::string& unit,
                 const SpreadRequest& request, SpreadColumns& out) {
  const auto text = [&](const std::optional<double>& value) {
    return value ? format_value(Value{*value}, unit) : std::string();
  };
  const auto values = known_values(series, measured);
  const auto median = percentile(values, 50);
  out.spread.push_back(spread);
  out.median.push_back(median.value_or(0));
  std::vector<double>& line = out.series.emplace_back();
  for (const std::size_t at : largest_of_neighbours(series, request.points)) line.push_back(series[at]);
  out.mean_text.push_back(text(spread.mean));
  out.min_text.push_back(text(spread.min));
  out.median_text.push_back(text(median));
  out.max_text.push_back(text(spread.max));
  out.deviation_text.push_back(text(spread.deviation));
  out.imbalance_text.push_back(spread.imbalance ? imbalance_text(*spread.imbalance) : "");
  out.lost_text.push_back(text(spread.lost));
  for (std::size_t i = 0; i < request.more.size(); ++i) {
    const std::optional<double> value = value_of(request.more[i], spread, values);
    out.more[i].value.push_back(value);
    out.more[i].text.push_back(value && is_ratio(request.more[i]) ? imbalance_text(*value) : text(value));
  }
}

Result<std::vector<StatisticCondition>> conditions_of(const SpreadRequest& request, const std::string& unit) {
  if (request.where.size() > kMaxStatisticConditions)
    return fail(ErrorCode::limit, fmt::format("a table has at most {} conditions", kMaxStatisticConditions));
  std::vector<StatisticCondition> out;
  for (const std::string& text : request.where) {
    PROFD_TRY(const StatisticCondition condition, parse_statistic_condition(text, unit));
    out.push_back(condition);
  }
  return out;
}

}  // namespace

Needs needs_of(const SpreadRequest& request) {
  return needs_of_shape(request.spec);
}

Result<SpreadAnswer> spread_answer(Views& views, const SpreadRequest& request, const StopToken& stop) {
  const Composition* const composition = request.open->profile->composition();
  if (composition == nullptr || composition->kind != Composed::aggregate)
    return fail(ErrorCode::invalid,
                "how values lie is told of several profiles put together: aggregate them first");
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, request.spec, stop));
  PROFD_TRY(const auto sources, sources_in(views, *request.open, request.workspace, stop));
  PROFD_TRY(const auto flat, views.flat(*request.open, request.spec, stop));
  SpreadAnswer out;
  out.head = head_of(*request.open, request.spec, view);
  out.offset = request.offset;
  for (const ComposedInput& input : composition->inputs) out.inputs.push_back(input.name);

  PROFD_TRY(const std::vector<StatisticCondition> conditions, conditions_of(request, view.whole.unit));
  const std::vector<Value>& by = request.totals ? flat->total : flat->self;
  std::vector<std::size_t> heaviest(flat->key.size());
  for (std::size_t i = 0; i < heaviest.size(); ++i) heaviest[i] = i;
  if (!request.search.empty()) {
    PROFD_TRY(const auto found, views.search(*request.open, request.spec, request.search, stop));
    std::erase_if(heaviest, [&](std::size_t row) { return found->matches[flat->key[row]] == 0; });
  }
  const std::size_t most = std::max<std::size_t>(1, kMostNumbers / (2 * composition->inputs.size()));
  if (heaviest.size() > most) {
    const auto middle = heaviest.begin() + static_cast<std::ptrdiff_t>(most);
    std::nth_element(heaviest.begin(), middle, heaviest.end(),
                     [&](std::size_t a, std::size_t b) { return as_double(by[a]) > as_double(by[b]); });
    out.head.warnings.push_back(fmt::format("only the {} heaviest of {} rows are looked at",
                                            format_exact(most), format_exact(heaviest.size())));
    heaviest.resize(most);
  }
  std::vector<Key> keys;
  for (const std::size_t row : heaviest) keys.push_back(flat->key[row]);
  const InputMetric& metric = composition->of[composition->metrics[view.selection->metric().v].of];
  PROFD_TRY(const KeySeries series,
            series_of_keys(*view.selection, composition->metrics[view.selection->metric().v].of, keys, stop));
  const auto series_of = [&](std::size_t key) {
    return request.totals ? series.total_of(key) : series.self_of(key);
  };
  std::vector<Row> rows;
  for (std::size_t key = 0; key < keys.size(); ++key) {
    const auto values = known_values(series_of(key), metric.values.measured);
    const auto spread = spread_of(values);
    if (!spread) continue;
    if (!std::all_of(conditions.begin(), conditions.end(),
                     [&](const StatisticCondition& condition) { return holds(condition, *spread, values); }))
      ++out.n_left_out;
    else
      rows.push_back(
          {heaviest[key], key, *spread,
           value_of(request.order, *spread, values).value_or(-std::numeric_limits<double>::infinity())});
  }
  const std::vector<std::uint32_t>& rank = view.selection->boxes->keys->name_rank;
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return a.rank != b.rank ? a.rank > b.rank : rank[keys[a.key]] < rank[keys[b.key]];
  });
  out.n_rows = rows.size();
  for (const Statistic& statistic : request.more) out.columns.more.push_back({to_text(statistic), {}, {}});
  RowWriter writer(view, sources.get(), out);
  for (std::size_t i = std::min(request.offset, rows.size());
       i < rows.size() && i - request.offset < request.limit; ++i) {
    writer.row(keys[rows[i].key], flat->self[rows[i].row], flat->total[rows[i].row], false,
               flat->estimate_of(rows[i].row));
    add_columns(rows[i].spread, series_of(rows[i].key), metric.values.measured, view.whole.unit, request,
                out.columns);
  }
  writer.finish();
  if (request.points < out.inputs.size())
    out.thinned = fmt::format("each series has {} values: of neighbouring profiles the largest",
                              format_count(request.points));
  return out;
}

}  // namespace profd
