// Spread: how the values that many inputs (ranks, runs, processes) have for one thing lie.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace profd {

// By input; nothing where the input does not know, as when it has no such metric. A path that an input knows
// nothing of, though it has the metric, has the value 0. What is not finite counts as nothing.
using SpreadValues = std::span<const std::optional<double>>;

struct Spread {
  std::size_t n = 0;        // inputs with a value
  std::size_t missing = 0;  // and without
  double sum = 0, min = 0, max = 0, mean = 0;
  std::optional<double> deviation;  // standard deviation by n - 1; nothing for one value
  std::optional<double> imbalance;  // max / mean - 1; nothing unless the mean is above 0
  // What all others wait for when they wait for the largest: (max - mean) * n.
  double lost = 0;
};

// Nothing when no input has a value, and when sums are beyond what a double holds.
std::optional<Spread> spread_of(SpreadValues values);

// The smallest value that at least `percent` of the inputs do not exceed, or of their weights, when there are
// some (by input, >= 0). Nothing when no input has a value, for a percent outside [0, 100], weights that do
// not fit or are all 0.
std::optional<double> percentile(SpreadValues values, double percent, std::span<const double> weights = {});

// The chance that the largest of so many counts of samples is as large, were they shared out evenly: of 100
// ranks with 100 samples each one has 125 by chance. `dispersion` as in dispersion.h. Nothing for less than
// two inputs, negative counts, and a dispersion below 1.
std::optional<double> chance_of_largest(SpreadValues counts, double dispersion);

}  // namespace profd
