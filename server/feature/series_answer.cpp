#include "server/feature/series_answer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/compare/thin.h"
#include "core/view/resolve.h"
#include "core/view/series.h"
#include "server/feature/first_needs.h"
#include "server/feature/names.h"
#include "server/feature/snapshots.h"

namespace profd {
namespace {

// Of the view's root the path is empty; of a flat view it is one key.
Result<std::vector<Key>> target_path(Views& views, const SeriesRequest& request, const PreparedView& view,
                                     const StopToken& stop) {
  const BoxTarget& at = request.at;
  const bool flat = request.spec.shape == Shape::flat;
  std::vector<Key> path;
  if (flat && at.names) {
    if (at.names->hashed || at.names->names.size() != 1)
      return fail(ErrorCode::invalid, "a row of a flat view is called by one name");
    PROFD_TRY(const Key key,
              resolve_key(*request.open->profile, *view.selection->boxes->keys, at.names->names.front()));
    path.push_back(key);
  } else {
    PROFD_TRY(path, path_of(views, *request.open, request.spec, view, at, stop));
    if (at.names && path.size() < at.names->names.size())
      return fail(ErrorCode::not_found, "the view has no box of these names");
  }
  if (flat && path.size() != 1)
    return fail(ErrorCode::invalid, "a flat view has rows: say which, by its key or its name");
  return path;
}

Result<std::vector<double>> values_at(const PreparedView& view, const SeriesRequest& request,
                                      const std::vector<Key>& path, std::uint32_t of, const StopToken& stop) {
  KeySeries series;
  if (request.spec.shape == Shape::flat) {
    PROFD_TRY(series, series_of_keys(*view.selection, of, path, stop));
  } else {
    std::vector<std::uint32_t> parent{kNone};
    std::vector<Key> key{kNone};
    for (const Key step : path) {
      parent.push_back(static_cast<std::uint32_t>(parent.size() - 1));
      key.push_back(step);
    }
    PROFD_TRY(series, series_of_boxes(*view.selection, of, request.spec.shape, view.focus,
                                      {parent, key, false}, path.size(), stop));
  }
  return std::move(request.totals ? series.total : series.self);
}

struct KnownInputs {
  std::vector<std::uint32_t> input;
  std::vector<double> value, at;
};

void write_points(const KnownInputs& known, const Composition& composition, bool by_time, std::size_t most,
                  SeriesAnswer& out) {
  const std::vector<std::size_t> shown = largest_of_neighbours(known.value, most);
  for (const std::size_t at : shown) {
    const std::uint32_t input = known.input[at];
    out.points.input.push_back(input);
    out.points.name.push_back(composition.inputs[input].name);
    out.points.value.push_back(known.value[at]);
    out.points.text.push_back(format_value(Value{known.value[at]}, out.unit));
    if (by_time) out.points.seconds.push_back(known.at[at]);
  }
  if (shown.size() < known.value.size())
    out.thinned = fmt::format("{} of {} profiles are points: of neighbours the one with the most",
                              format_count(shown.size()), format_count(known.value.size()));
}

// That something was given back is said of bytes alone: ranks and runs are in no order of time.
std::string trend_sentence(const Trend& trend, const SeriesAnswer& answer) {
  switch (trend.kind) {
    case TrendKind::rising:
      return fmt::format("It grows beyond chance, {}{}.", answer.slope,
                         trend.may_level_off ? ", and may still level off" : "");
    case TrendKind::reclaimed:
      return answer.unit == "bytes" ? "It was given back: the last value is below half of the largest." : "";
    case TrendKind::steady:
    case TrendKind::too_few:
      break;
  }
  return "";
}

}  // namespace

std::vector<std::optional<double>> known_values(std::span<const double> values,
                                                const std::vector<std::uint8_t>& measured) {
  std::vector<std::optional<double>> out;
  out.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    out.push_back(measured[i] != 0 ? std::optional(values[i]) : std::nullopt);
  return out;
}

std::optional<InputsSpread> inputs_spread_of(ValuesByInput values) {
  const auto spread = spread_of(values);
  if (!spread) return std::nullopt;
  InputsSpread out;
  out.spread = *spread;
  out.median = percentile(values, 50).value_or(0);
  out.p90 = percentile(values, 90).value_or(0);
  for (std::size_t i = values.size(); i-- > 0;) {
    out.n_present += values[i].value_or(0) != 0;
    if (values[i] == spread->max) out.largest = i;
  }
  return out;
}

std::string imbalance_text(double imbalance) {
  return fmt::format("{:.1f} %", imbalance * 100);
}

std::string spread_sentence(const InputsSpread& spread, const Composition& composition,
                            const std::string& unit) {
  const auto text = [&](double value) { return format_value(Value{value}, unit); };
  const std::string uneven = spread.spread.imbalance.value_or(0) > 0
                                 ? ", " + imbalance_text(*spread.spread.imbalance) + " above the mean"
                                 : std::string();
  return fmt::format("in {} of {} profiles: mean {}, most {} in {}{}", format_count(spread.n_present),
                     format_count(composition.inputs.size()), text(spread.spread.mean),
                     text(spread.spread.max), composition.inputs[spread.largest].name, uneven);
}

Needs needs_of(const SeriesRequest& request) {
  return needs_of_shape(request.spec);
}

Result<SeriesAnswer> series_answer(Views& views, const SeriesRequest& request, const StopToken& stop) {
  const Composition* const composition = request.open->profile->composition();
  if (composition == nullptr || composition->kind != Composed::aggregate)
    return fail(ErrorCode::invalid, "a series is one of several profiles put together: aggregate them first");
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, request.spec, stop));
  PROFD_TRY(const std::vector<Key> path, target_path(views, request, view, stop));
  const std::uint32_t of = composition->metrics[view.selection->metric().v].of;
  PROFD_TRY(const std::vector<double> values, values_at(view, request, path, of, stop));

  SeriesAnswer out;
  out.head = head_of(*request.open, request.spec, view);
  out.unit = view.whole.unit;
  out.n_inputs = composition->inputs.size();
  if (!path.empty()) {
    out.name = key_name(*request.open->profile, *view.selection->boxes->keys, path.back());
    out.label = short_name(out.name);
  }
  const std::vector<std::uint8_t>& measured = composition->of[of].values.measured;
  const SnapshotTimes times = snapshot_times(*composition);
  KnownInputs known;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (measured[i] == 0) continue;
    known.input.push_back(i);
    known.value.push_back(values[i]);
    known.at.push_back(times.at[i]);
  }
  write_points(known, *composition, times.by_time, request.points, out);
  const std::vector<std::optional<double>> by_input = known_values(values, measured);
  out.spread = inputs_spread_of(by_input);
  out.histogram = histogram_of(by_input, request.bins);
  if (known.value.size() >= kFewestSnapshots && known.value.size() <= kMostForTrend) {
    PROFD_TRY(out.trend, trend_of(known.at, known.value));
    if (out.trend->slope) out.slope = slope_text(*out.trend->slope, out.unit, times.by_time);
  }
  if (out.spread) {
    out.text = spread_sentence(*out.spread, *composition, out.unit) + ".";
    out.text.front() = 'I';
    out.largest = composition->inputs[out.spread->largest].name;
  }
  if (const std::string trend = out.trend ? trend_sentence(*out.trend, out) : ""; !trend.empty())
    out.text += " " + trend;
  return out;
}

}  // namespace profd
