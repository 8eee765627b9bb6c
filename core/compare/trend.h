// Trend: what became of a level (live bytes after each collection, a queue's length) over a series of
// snapshots. A counter that only grows is no level: take its differences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/support/result.h"

namespace profd {

enum class TrendKind : std::uint8_t {
  too_few,    // so few snapshots cannot prove a rise
  steady,     // no rise is proven
  rising,     // by more than a cache that fills, a random walk or a sawtooth does
  reclaimed,  // the last value is below half of the highest
};

struct SlopeInterval {
  double low = 0;
  double high = 0;
};

// Snapshots: below kFewestSnapshots nothing is said, below kEnoughSnapshots it is to be taken with care.
inline constexpr std::size_t kFewestSnapshots = 4;
inline constexpr std::size_t kEnoughSnapshots = 8;
inline constexpr std::size_t kMostSnapshots = 2000;

struct Trend {
  TrendKind kind = TrendKind::too_few;
  bool few = true;             // below kEnoughSnapshots
  bool may_level_off = false;  // of what rises: in the last third by less than half as fast as before it
  // Nothing of the following below kFewestSnapshots.
  std::optional<double> strength;  // Kendall's tau: 1 when every value is above all before it, -1 when below
  std::optional<double> p;         // chance of as much of a rise among values in random order (Mann, Kendall)
  // By unit of time: the median of all pairs (Theil, Sen); nothing where one is beyond a double either.
  std::optional<double> slope;
  std::optional<SlopeInterval> interval;  // of the slope, 95 %; needs about six snapshots
};

// `times` ascend strictly. Fails with `invalid` when they do not, when there are not as many values, and for
// what is not finite; with `limit` beyond kMostSnapshots.
Result<Trend> trend_of(std::span<const double> times, std::span<const double> values);

}  // namespace profd
