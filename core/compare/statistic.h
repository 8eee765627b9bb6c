// Statistic: one number of how the values of many inputs lie, by a name that people write: what rows of an
// aggregate are sorted by, coloured by and left out by.
//
//   statistic  sum mean min (least) max (most) median pN deviation variation imbalance (uneven) lost
//   condition  statistic (">=" | "<=") number [unit | "%"]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/compare/spread.h"
#include "core/support/result.h"

namespace profd {

struct Statistic {
  enum class Kind : std::uint8_t {
    sum,
    mean,
    min,
    max,
    percentile,  // by nearest rank; of 50 the median
    deviation,   // standard deviation
    variation,   // the same beside the mean, where that is above 0
    imbalance,   // the largest beside the mean
    lost,        // what all others wait for the largest
  };
  Kind kind = Kind::sum;
  double percent = 50;  // of a percentile, in [0, 100]
  bool operator==(const Statistic&) const = default;
};

// A part of the mean, and no value of the metric.
constexpr bool is_ratio(const Statistic& statistic) {
  return statistic.kind == Statistic::Kind::variation || statistic.kind == Statistic::Kind::imbalance;
}

// `invalid` for what is none, with those that there are.
Result<Statistic> parse_statistic(std::string_view text);
// "median", "p95"; parse_statistic() reads it.
std::string to_text(const Statistic& statistic);

// `values` are those that `spread` is of. Nothing where there is no such number, as a deviation of one value.
std::optional<double> value_of(const Statistic& statistic, const Spread& spread, ValuesByInput values);

struct StatisticCondition {
  Statistic statistic;
  bool at_least = true;  // else at most
  double limit = 0;      // in units of the metric; of a ratio a part of the mean
};

constexpr std::size_t kMaxStatisticConditions = 16;

// `metric_unit` as MetricInfo has it: limits in other units of the same kind are converted, numbers without a
// unit are in it. `invalid` and the place of what was not understood (character, from 1), or for a unit that
// the metric has not.
Result<StatisticCondition> parse_statistic_condition(std::string_view text, std::string_view metric_unit);

// What has no such number holds no condition.
bool holds(const StatisticCondition& condition, const Spread& spread, ValuesByInput values);

}  // namespace profd
