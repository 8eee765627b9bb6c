#include "core/compare/trend.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "core/compare/distributions.h"
#include "core/compare/median.h"
#include "core/compare/one_run.h"

namespace profd {
namespace {

// Of a rise over all snapshots. Values in series hang together, and at 5 % every seventh such series would
// rise.
constexpr double kRiseLevel = 7e-4;
// Six have 720 orders, one of which alone is more likely than that.
constexpr std::size_t kFewestThatRise = 7;
// As many values have at most 20! orders, which 64 bits count.
constexpr std::size_t kCountedOrders = 20;

struct Kendall {
  double rises = 0;     // pairs that rise less pairs that fall
  double variance = 0;  // of that in random order
  double p = 1;         // of as much or more
};

// How many values are the same, of those that are.
std::vector<std::size_t> ties_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> ties;
  for (std::size_t i = 0, end = 0; i < sorted.size(); i = end) {
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    ties.push_back(end - i);
  }
  return ties;
}

// The part of all orders of the values that have at most `falls` pairs that fall. How many have how many are
// the coefficients of a product of Gaussian binomials, one for each set of ties put among the values before.
double part_of_orders(const std::vector<std::size_t>& ties, std::size_t n_pairs, std::size_t falls) {
  std::vector<std::int64_t> orders(n_pairs + 1, 0);
  orders[0] = 1;
  std::size_t n_before = 0;
  for (const std::size_t tied : ties) {
    for (std::size_t j = 1; j <= tied; ++j) {
      for (std::size_t i = n_pairs + 1; i-- > n_before + j;) orders[i] -= orders[i - n_before - j];
      for (std::size_t i = j; i <= n_pairs; ++i) orders[i] += orders[i - j];
    }
    n_before += tied;
  }
  const auto sum_until = [&](std::size_t end) {
    return static_cast<double>(
        std::accumulate(orders.begin(), orders.begin() + static_cast<std::ptrdiff_t>(end), std::int64_t{0}));
  };
  return sum_until(falls + 1) / sum_until(n_pairs + 1);
}

Kendall kendall_of(std::span<const double> values) {
  Kendall kendall;
  std::size_t n_rises = 0, n_falls = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      n_rises += values[j] > values[i];
      n_falls += values[j] < values[i];
    }
  kendall.rises = static_cast<double>(n_rises) - static_cast<double>(n_falls);
  const std::vector<std::size_t> ties = ties_of(values);
  const auto cubic = [](std::size_t count) {
    const auto n = static_cast<double>(count);
    return n * (n - 1) * (2 * n + 5) / 18;
  };
  kendall.variance = cubic(values.size());
  for (const std::size_t tied : ties) kendall.variance -= cubic(tied);
  if (values.size() <= kCountedOrders)
    kendall.p = part_of_orders(ties, n_rises + n_falls, n_falls);
  else if (n_rises + n_falls > 0)
    kendall.p = std::erfc((kendall.rises - 1) / std::sqrt(2 * kendall.variance)) / 2;
  return kendall;
}

std::vector<double> slopes_of(std::span<const double> times, std::span<const double> values) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = i + 1; j < values.size(); ++j)
      slopes.push_back((values[j] - values[i]) / (times[j] - times[i]));
  return slopes;
}

// Between the slopes that lie as many ranks from the middle as the rises may by chance (Sen).
std::optional<SlopeInterval> interval_of(std::vector<double>& slopes, double variance) {
  const auto n = static_cast<double>(slopes.size());
  const double reach = normal_quantile(kLevel / 2) * std::sqrt(variance);
  const double low = std::floor((n - reach) / 2);
  if (low < 1) return std::nullopt;
  const auto rank = static_cast<std::ptrdiff_t>(low);
  std::nth_element(slopes.begin(), slopes.begin() + (rank - 1), slopes.end());
  const double first = slopes[static_cast<std::size_t>(rank - 1)];
  std::nth_element(slopes.begin(), slopes.end() - rank, slopes.end());
  return SlopeInterval{first, *(slopes.end() - rank)};
}

// Rises over all snapshots, still in their later half, and the last third lies wholly above the first.
bool rises(std::span<const double> values, double p) {
  if (p > kRiseLevel) return false;
  const std::size_t half = (values.size() + 1) / 2, third = values.size() / 3;
  if (kendall_of(values.last(half)).p > kLevel) return false;
  const auto first = values.first(third), last = values.last(third);
  return *std::min_element(last.begin(), last.end()) > *std::max_element(first.begin(), first.end());
}

bool slows_down(std::span<const double> times, std::span<const double> values) {
  const std::size_t third = values.size() / 3, before = values.size() - third;
  std::vector<double> earlier = slopes_of(times.first(before), values.first(before));
  std::vector<double> later = slopes_of(times.last(third), values.last(third));
  return later.empty() || median_of(later) < median_of(earlier) / 2;
}

Result<void> check(std::span<const double> times, std::span<const double> values) {
  if (times.size() != values.size()) return fail(ErrorCode::invalid, "a trend needs as many times as values");
  if (times.size() > kMostSnapshots)
    return fail(ErrorCode::limit, "a trend is of at most " + std::to_string(kMostSnapshots) + " snapshots");
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!std::isfinite(times[i]) || !std::isfinite(values[i]))
      return fail(ErrorCode::invalid, "a time or value of a trend is not finite");
    if (i > 0 && !(times[i] > times[i - 1]))
      return fail(ErrorCode::invalid, "snapshots of a trend are not in the order of their times");
  }
  return {};
}

}  // namespace

Result<Trend> trend_of(std::span<const double> times, std::span<const double> values) {
  PROFD_CHECK(check(times, values));
  Trend trend;
  const std::size_t n = values.size();
  if (n < kFewestSnapshots) return trend;
  trend.few = n < kEnoughSnapshots;
  const Kendall kendall = kendall_of(values);
  trend.p = kendall.p;
  std::vector<double> slopes = slopes_of(times, values);
  trend.strength = kendall.rises / static_cast<double>(slopes.size());
  // Differences of the largest doubles are beyond them.
  if (std::all_of(slopes.begin(), slopes.end(), [](double x) { return std::isfinite(x); })) {
    trend.slope = median_of(slopes);
    trend.interval = interval_of(slopes, kendall.variance);
  }
  const double peak = *std::max_element(values.begin(), values.end());
  if (rises(values, kendall.p)) {
    trend.kind = TrendKind::rising;
    trend.may_level_off = slows_down(times, values);
  } else if (peak > 0 && values.back() < peak / 2) {
    trend.kind = TrendKind::reclaimed;
  } else {
    trend.kind = n >= kFewestThatRise ? TrendKind::steady : TrendKind::too_few;
  }
  return trend;
}

}  // namespace profd
