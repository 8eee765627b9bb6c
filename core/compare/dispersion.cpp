#include "core/compare/dispersion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/compare/distributions.h"
#include "core/compare/median.h"

namespace profd {
namespace {

// With how many degrees of freedom the median of all subjects counts in the dispersion of each.
constexpr double kMedianDegrees = 20;

Result<std::size_t> n_subjects_of(const WindowCounts& counts) {
  const std::size_t n = std::max(counts.before.size(), counts.after.size());
  if (counts.n_windows < 2 || n % counts.n_windows != 0)
    return fail(ErrorCode::invalid,
                "samples in windows are no whole number of subjects of two windows or more");
  for (const std::span<const double> side : {counts.before, counts.after}) {
    if (!side.empty() && side.size() != n)
      return fail(ErrorCode::invalid, "the two sides have windows of different numbers of subjects");
    if (!std::all_of(side.begin(), side.end(), [](double x) { return std::isfinite(x) && x >= 0; }))
      return fail(ErrorCode::invalid, "a number of samples in a window is negative or not finite");
  }
  return n / counts.n_windows;
}

// Of one subject; nothing for a side without times.
std::array<std::span<const double>, 2> windows_of(const WindowCounts& counts, std::size_t subject) {
  std::array<std::span<const double>, 2> sides;
  if (!counts.before.empty()) sides[0] = counts.before.subspan(subject * counts.n_windows, counts.n_windows);
  if (!counts.after.empty()) sides[1] = counts.after.subspan(subject * counts.n_windows, counts.n_windows);
  return sides;
}

double sum_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Ranks from 1, those of equal values their mean.
void rank_into(std::span<const double> values, std::vector<std::uint32_t>& order,
               std::vector<double>& ranks) {
  order.resize(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
  ranks.resize(values.size());
  for (std::size_t i = 0, end = 0; i < order.size(); i = end) {
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) ranks[order[k]] = static_cast<double>(i + end + 1) / 2;
  }
}

// By how many deviations successive ranks are closer than in random order (von Neumann's ratio, Bartels'
// form).
double closeness(std::span<const double> ranks) {
  const auto n = static_cast<double>(ranks.size());
  double steps = 0, squares = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const double off = ranks[i] - (n + 1) / 2;
    squares += off * off;
    if (i > 0) steps += (ranks[i] - ranks[i - 1]) * (ranks[i] - ranks[i - 1]);
  }
  if (squares == 0) return 0;
  const double variance = 4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) * (n - 1));
  return (2 - steps / squares) / std::sqrt(variance);
}

}  // namespace

Result<std::vector<double>> dispersions(const WindowCounts& counts) {
  PROFD_TRY(const std::size_t n_subjects, n_subjects_of(counts));
  const auto n_windows = static_cast<double>(counts.n_windows);
  const double degrees = (n_windows - 1) * (counts.before.empty() || counts.after.empty() ? 1 : 2);
  std::vector<double> own(n_subjects, 0), telling;
  std::vector<bool> seen(n_subjects, false);
  for (std::size_t s = 0; s < n_subjects; ++s) {
    double samples = 0, squares = 0;
    for (const std::span<const double> windows : windows_of(counts, s)) {
      const double sum = sum_of(windows), mean = sum / n_windows;
      samples += sum;
      for (const double x : windows) squares += (x - mean) * (x - mean);
    }
    // The variance of all windows together over their mean, which for both sides is a ratio of sums.
    own[s] = samples > 0 ? squares / (n_windows - 1) / (samples / n_windows) : 0;
    seen[s] = samples > 0 && std::isfinite(own[s]);
    if (seen[s] && samples >= n_windows) telling.push_back(own[s]);
  }
  if (telling.empty()) return std::vector<double>(n_subjects, kUnknownDispersion);
  const double median = median_of(telling);
  std::vector<double> shrunk(n_subjects);
  for (std::size_t s = 0; s < n_subjects; ++s) {
    const double mixed = (degrees * own[s] + kMedianDegrees * median) / (degrees + kMedianDegrees);
    shrunk[s] = std::max(1.0, seen[s] ? mixed : median);
  }
  return shrunk;
}

std::optional<double> dispersion_of_unchanged(std::span<const SamplePair> selfs, const Exposures& exposures) {
  constexpr double kFewestSamples = 10, kFewestFunctions = 20;
  const double share = 1 / (1 + exposures.before / exposures.after);
  if (!(exposures.before > 0 && share > 0 && share < 1)) return std::nullopt;
  double n = 0, sum = 0;
  for (const SamplePair& self : selfs) {
    const double samples = self.before + self.after;
    if (!std::isfinite(samples) || self.before < 0 || self.after < 0 || samples < kFewestSamples) continue;
    const double off = self.after - samples * share;
    n += 1;
    sum += off * off / (samples * share * (1 - share));
  }
  return n >= kFewestFunctions ? std::optional(std::max(1.0, sum / n)) : std::nullopt;
}

Result<std::vector<std::uint32_t>> drifting(const WindowCounts& counts) {
  PROFD_TRY(const std::size_t n_subjects, n_subjects_of(counts));
  struct Closest {
    std::uint32_t subject;
    double by;
  };
  std::vector<Closest> asked;
  std::vector<std::uint32_t> order;
  std::vector<double> ranks;
  for (std::size_t s = 0; s < n_subjects; ++s)
    for (const std::span<const double> windows : windows_of(counts, s)) {
      // Fewer samples than windows have too few ranks, and no phases that matter.
      if (windows.size() < 8 || sum_of(windows) < static_cast<double>(windows.size())) continue;
      rank_into(windows, order, ranks);
      asked.push_back({static_cast<std::uint32_t>(s), closeness(ranks)});
    }
  std::vector<std::uint32_t> drift;
  if (asked.empty()) return drift;
  const double limit = normal_quantile(kLevel / static_cast<double>(asked.size()));
  for (const Closest& closest : asked)
    if (closest.by > limit && (drift.empty() || drift.back() != closest.subject))
      drift.push_back(closest.subject);
  return drift;
}

}  // namespace profd
