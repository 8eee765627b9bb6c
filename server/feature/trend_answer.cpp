#include "server/feature/trend_answer.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/view/series.h"
#include "server/feature/first_needs.h"
#include "server/feature/snapshots.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::size_t kMostInTable = 20'000'000;
// What never had so much of the highest total of a snapshot is no leak that anybody looks for.
constexpr double kLeastShare = 0.001;

double highest_of(std::span<const double> series) {
  return *std::max_element(series.begin(), series.end());
}

std::string verdict_of(const TrendAnswer& answer, std::size_t n_inputs) {
  const std::string care =
      n_inputs < kEnoughSnapshots
          ? fmt::format(" Of {} snapshots little can be said; 20 over several collections are enough.",
                        n_inputs)
          : std::string();
  if (answer.n_rising == 0)
    return fmt::format("No path grows beyond what a cache that fills, or chance, does; {} {} given back.{}",
                       answer.n_reclaimed, answer.n_reclaimed == 1 ? "was" : "were", care);
  return fmt::format("{} {} and {} not given back; {} {} reclaimed.{}", answer.n_rising,
                     answer.n_rising == 1 ? "path grows" : "paths grow", answer.n_rising == 1 ? "is" : "are",
                     answer.n_reclaimed, answer.n_reclaimed == 1 ? "was" : "were", care);
}

struct Candidate {
  std::size_t path;
  Trend trend;
};

void add_row(const PreparedView& view, const SourceMap* sources, const PathSeries& series,
             const Candidate& found, TrendAnswer& out) {
  const Selection& selection = *view.selection;
  const ContextTree& tree = selection.profile->tree();
  TrendRow row;
  row.trend = found.trend;
  const auto values = series.self_of(found.path);
  row.series.assign(values.begin(), values.end());
  for (std::uint32_t at = series.context[found.path]; at != 0;
       at = selection.boxes->owner_of(tree.parent[at])) {
    const Key key = selection.boxes->keys->of_frame[tree.frame[at]];
    row.keys.push_back(key);
    row.path.push_back(key_name(*selection.profile, *selection.boxes->keys, key));
  }
  std::reverse(row.keys.begin(), row.keys.end());
  std::reverse(row.path.begin(), row.path.end());
  const Value last{values.back()};
  if (!row.keys.empty()) row.place = place_of(selection, sources, row.keys.back(), last, last, kExact);
  if (found.trend.slope) row.slope = slope_text(*found.trend.slope, view.whole.unit, out.by_time);
  row.first = format_value(Value{values.front()}, view.whole.unit);
  row.last = format_value(last, view.whole.unit);
  row.highest = format_value(Value{highest_of(values)}, view.whole.unit);
  out.rows.push_back(std::move(row));
}

}  // namespace

Needs needs_of(const TrendRequest& request) {
  return needs_of_shape(request.spec);
}

Result<TrendAnswer> trend_answer(Views& views, const TrendRequest& request, const StopToken& stop) {
  const Composition* const composition = request.open->profile->composition();
  if (composition == nullptr || composition->kind != Composed::aggregate)
    return fail(ErrorCode::invalid, "a trend is one of several snapshots put together: aggregate them first");
  const std::size_t n = composition->inputs.size();
  if (n < kFewestSnapshots)
    return fail(
        ErrorCode::invalid,
        fmt::format("a trend needs {} snapshots at least, and better 20; these are {}", kFewestSnapshots, n));
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, request.spec, stop));
  PROFD_TRY(const auto sources, sources_in(views, *request.open, request.workspace, stop));
  const std::uint32_t of = composition->metrics[view.selection->metric().v].of;
  PROFD_TRY(const PathSeries series, series_of_paths(*view.selection, of, kMostInTable, stop));
  TrendAnswer out;
  out.head = head_of(*request.open, request.spec, view);
  out.unit = view.whole.unit;
  for (const ComposedInput& input : composition->inputs) out.inputs.push_back(input.name);
  const SnapshotTimes times = snapshot_times(*composition);
  out.by_time = times.by_time;
  std::vector<double> totals(n, 0);
  for (std::size_t path = 0; path < series.context.size(); ++path)
    for (std::size_t i = 0; i < n; ++i) totals[i] += series.self_of(path)[i];
  const double least = highest_of(totals) * kLeastShare;
  std::vector<Candidate> rising, reclaimed;
  for (std::size_t path = 0; path < series.context.size(); ++path) {
    PROFD_CHECK(stop.status());
    const auto values = series.self_of(path);
    if (highest_of(values) < least) {
      ++out.n_steady;
      continue;
    }
    PROFD_TRY(const Trend trend, trend_of(times.at, values));
    if (trend.kind == TrendKind::rising)
      rising.push_back({path, trend});
    else if (trend.kind == TrendKind::reclaimed)
      reclaimed.push_back({path, trend});
    else
      ++out.n_steady;
  }
  out.n_rising = rising.size();
  out.n_reclaimed = reclaimed.size();
  std::stable_sort(rising.begin(), rising.end(), [](const Candidate& a, const Candidate& b) {
    return a.trend.slope.value_or(0) > b.trend.slope.value_or(0);
  });
  std::stable_sort(reclaimed.begin(), reclaimed.end(), [&](const Candidate& a, const Candidate& b) {
    return highest_of(series.self_of(a.path)) > highest_of(series.self_of(b.path));
  });
  for (const std::vector<Candidate>* kind : {&rising, &reclaimed})
    for (std::size_t i = 0; i < std::min(kind->size(), request.limit); ++i)
      add_row(view, sources.get(), series, (*kind)[i], out);
  out.verdict = verdict_of(out, n);
  return out;
}

}  // namespace profd
