// What each input of an aggregate has of one box or row: the values in order, how they lie, how many there
// are of which size, what became of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/histogram.h"
#include "core/compare/spread.h"
#include "core/compare/trend.h"
#include "server/feature/box_target.h"

namespace profd {

// How the values of one thing lie over the inputs of an aggregate.
struct InputsSpread {
  Spread spread;
  double median = 0, p90 = 0;
  std::size_t n_present = 0;  // inputs that have anything of it
  std::size_t largest = 0;    // the first input with the largest value
};
// `values`: by input. Nothing as spread_of().
std::optional<InputsSpread> inputs_spread_of(ValuesByInput values);
// By input; nothing for those that do not have the metric at all.
std::vector<std::optional<double>> known_values(std::span<const double> values,
                                                const std::vector<std::uint8_t>& measured);
// "in 18 of 20 profiles: mean 1.20 s, most 2.00 s in rank-3, 66.7 % above the mean". Names are as they are.
std::string spread_sentence(const InputsSpread& spread, const Composition& composition,
                            const std::string& unit);

// "66.7 %".
std::string imbalance_text(double imbalance);

// A trend looks at all pairs of values: of more than that somebody would wait for it. Whoever does asks
// trend_answer().
inline constexpr std::size_t kMostForTrend = 500;

struct SeriesRequest {
  OpenProfilePtr open;
  ViewSpec spec;
  // Of a flat view a row, by its key or its name; of others a box, the root where nothing is said.
  BoxTarget at;
  bool totals = true;        // else selfs
  std::size_t points = 500;  // at most
  std::size_t bins = 30;     // at most
};

// Columns, all equally long: the inputs that have the metric, in order.
struct SeriesPoints {
  std::vector<std::uint32_t> input;  // its number, from 0
  std::vector<std::string> name;
  std::vector<double> value;
  std::vector<std::string> text;
  std::vector<double> seconds;  // since the first input; empty where times are not known or do not ascend
};

struct SeriesAnswer {
  ViewHead head;
  std::string unit;         // as in MetricInfo
  std::string name, label;  // of the box or row; "" the root
  std::size_t n_inputs = 0;
  SeriesPoints points;
  std::string thinned;  // a sentence where the points are fewer than the inputs; else ""
  // Nothing where no input has the metric.
  std::optional<InputsSpread> spread;
  std::string largest;  // the input InputsSpread::largest
  std::optional<Histogram> histogram;
  // Nothing for fewer than kFewestSnapshots values and for more than kMostForTrend.
  std::optional<Trend> trend;
  std::string slope;  // of the trend, as shown; "" without
  std::string text;   // all of it, in words
};
// Fails with `invalid` where the profile is no aggregate; `not_found` where the view has no such box.
Result<SeriesAnswer> series_answer(Views& views, const SeriesRequest& request, const StopToken& stop);
Needs needs_of(const SeriesRequest& request);

}  // namespace profd
