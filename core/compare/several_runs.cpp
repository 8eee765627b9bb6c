#include "core/compare/several_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/compare/distributions.h"
#include "core/compare/median.h"
#include "core/compare/one_run.h"
#include "core/support/hash.h"

namespace profd {
namespace {

constexpr std::size_t kMostSplits = 2000;
// With how many degrees of freedom the variance that is expected counts in that of each subject.
constexpr double kExpectedDegrees = 8;

// Runs by the side that comes first, so that swapped sides give the same splits.
struct Sides {
  std::vector<std::size_t> runs;  // of RunCounts; those of the first side first
  std::size_t n_first = 0;
  bool swapped = false;
};

bool after_first(const RunCounts& runs) {
  if (runs.n_before != runs.n_after) return runs.n_after < runs.n_before;
  const std::size_t n = runs.n_before + runs.n_after;
  for (std::size_t at = 0; at < runs.samples.size(); at += n) {
    const auto before = runs.samples.subspan(at, runs.n_before);
    const auto after = runs.samples.subspan(at + runs.n_before, runs.n_after);
    const auto [x, y] = std::mismatch(before.begin(), before.end(), after.begin());
    if (x != before.end()) return *y < *x;
  }
  return false;
}

Sides sides_of(const RunCounts& runs) {
  Sides sides;
  const std::size_t n = runs.n_before + runs.n_after;
  sides.swapped = after_first(runs);
  sides.n_first = sides.swapped ? runs.n_after : runs.n_before;
  sides.runs.resize(n);
  for (std::size_t i = 0; i < n; ++i) sides.runs[i] = sides.swapped ? (i + runs.n_before) % n : i;
  return sides;
}

// Subjects with samples enough, their logarithms about their mean.
struct Logs {
  std::vector<std::size_t> subject;  // of RunCounts, by row
  std::vector<double> of;            // by run as in Sides, then row
  std::vector<double> square;        // sum over runs, by row
  std::vector<double> poisson;       // the variance that samples alone give, by row

  [[nodiscard]] std::size_t size() const { return subject.size(); }
};

Logs logs_of(const RunCounts& runs, const Sides& sides) {
  Logs logs;
  const std::size_t n = sides.runs.size(), n_subjects = runs.samples.size() / n;
  for (std::size_t s = 0; s < n_subjects; ++s) {
    const auto samples = runs.samples.subspan(s * n, n);
    const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(n);
    if (!(mean >= kSamplesARun) || !std::isfinite(mean)) continue;
    logs.subject.push_back(s);
    logs.poisson.push_back(1 / mean);
  }
  logs.of.resize(n * logs.size());
  logs.square.resize(logs.size(), 0);
  std::vector<double> row(n);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (std::size_t r = 0; r < n; ++r) {
      const std::size_t run = sides.runs[r];
      const double exposure = runs.exposures.empty() ? 1 : runs.exposures[run];
      // Half a sample more: a run without any has a logarithm, and one of ten is hardly moved.
      row[r] = std::log(runs.samples[logs.subject[i] * n + run] + 0.5) - std::log(exposure);
    }
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(n);
    for (std::size_t r = 0; r < n; ++r) {
      logs.of[r * logs.size() + i] = row[r] - mean;
      logs.square[i] += (row[r] - mean) * (row[r] - mean);
    }
  }
  return logs;
}

// What one division of the runs between two sides says of every row.
class Split {
 public:
  Split(const Logs& logs, std::size_t n_runs, std::size_t n_first)
      : logs_(logs),
        n_runs_(n_runs),
        first_(static_cast<double>(n_first)),
        second_(static_cast<double>(n_runs - n_first)),
        sums_(logs.size()),
        variance_(logs.size()) {}

  // `is_first`: by run.
  void divide(const std::vector<char>& is_first) {
    const std::size_t n = logs_.size();
    std::fill(sums_.begin(), sums_.end(), 0.0);
    for (std::size_t r = 0; r < n_runs_; ++r) {
      if (!is_first[r]) continue;
      const double* const run = logs_.of.data() + r * n;
      for (std::size_t i = 0; i < n; ++i) sums_[i] += run[i];
    }
    // The mean of all runs is 0, and the sums of the two sides are opposite.
    const double between = 1 / first_ + 1 / second_, degrees = first_ + second_ - 2;
    excess_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      variance_[i] = std::max(0.0, logs_.square[i] - sums_[i] * sums_[i] * between) / degrees;
      excess_.push_back(variance_[i] - logs_.poisson[i]);
    }
    const double excess = n > 0 ? std::max(0.0, median_of(excess_)) : 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double expected = logs_.poisson[i] + excess;
      variance_[i] = (degrees * variance_[i] + kExpectedDegrees * expected) / (degrees + kExpectedDegrees);
    }
  }
  // Of the second side to the first.
  [[nodiscard]] double log_ratio(std::size_t i) const { return -sums_[i] * (1 / first_ + 1 / second_); }
  [[nodiscard]] double deviation(std::size_t i) const {
    return std::sqrt(variance_[i] * (1 / first_ + 1 / second_));
  }
  [[nodiscard]] double degrees() const { return first_ + second_ - 2 + kExpectedDegrees; }

 private:
  const Logs& logs_;
  std::size_t n_runs_;
  double first_, second_;
  std::vector<double> sums_, variance_, excess_;
};

// Of n things k, at most one more than kMostSplits.
std::size_t n_splits(std::size_t n, std::size_t k) {
  k = std::min(k, n - k);
  std::size_t count = 1;
  for (std::size_t i = 1; i <= k && count <= kMostSplits; ++i) count = count * (n - k + i) / i;
  return std::min(count, kMostSplits + 1);
}

// All divisions, or that of the sides themselves and kMostSplits at random.
class Divisions {
 public:
  Divisions(std::size_t n, std::size_t n_first)
      : is_first_(n, 0), random_(n_splits(n, n_first) > kMostSplits) {
    std::fill_n(is_first_.begin(), n_first, char{1});
    count_ = random_ ? kMostSplits + 1 : n_splits(n, n_first);
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const std::vector<char>& current() const { return is_first_; }
  void next() {
    if (!random_) {
      std::prev_permutation(is_first_.begin(), is_first_.end());
      return;
    }
    for (std::size_t i = is_first_.size(); i > 1; --i) std::swap(is_first_[i - 1], is_first_[below(i)]);
  }

 private:
  // From a fixed start: the same runs have the same p each time, whatever the standard library.
  std::size_t below(std::size_t n) {
    state_ += 0x9E3779B97F4A7C15ull;
    return static_cast<std::size_t>((static_cast<Wide>(mix64(state_)) * n) >> 64);
  }
  std::vector<char> is_first_;
  bool random_;
  std::size_t count_ = 0;
  std::uint64_t state_ = 0x70726F6664ull;
};

// How far a row is from no change, in deviations, in the direction asked for.
double distance(const Split& split, std::size_t i, Direction direction, bool swapped) {
  const double t = split.log_ratio(i) / split.deviation(i);
  return direction == Direction::both ? std::fabs(t) : swapped ? -t : t;
}

double least_p_of(const RunCounts& runs, Direction direction, std::size_t n_divisions) {
  // Where both sides have as many runs, the mirrored division is as far off.
  const bool mirrored = direction == Direction::both && runs.n_before == runs.n_after;
  const bool all = n_divisions <= kMostSplits;
  return (all && mirrored ? 2.0 : 1.0) / static_cast<double>(n_divisions);
}

Result<void> check(const RunCounts& runs) {
  const std::size_t n = runs.n_before + runs.n_after;
  if (runs.n_before == 0 || runs.n_after == 0 || n < 3)
    return fail(ErrorCode::invalid,
                "runs cannot be told from one another by fewer than two on a side and one on the other");
  if (runs.samples.size() % n != 0)
    return fail(ErrorCode::invalid, "samples are not as many as subjects times runs");
  if (!runs.exposures.empty() && runs.exposures.size() != n)
    return fail(ErrorCode::invalid, "exposures are not as many as runs");
  if (!std::all_of(runs.samples.begin(), runs.samples.end(),
                   [](double x) { return std::isfinite(x) && x >= 0; }))
    return fail(ErrorCode::invalid, "a number of samples is negative or not finite");
  if (!std::all_of(runs.exposures.begin(), runs.exposures.end(),
                   [](double x) { return std::isfinite(x) && x > 0; }))
    return fail(ErrorCode::invalid, "the exposure of a run is not above 0");
  return {};
}

}  // namespace

Result<RunsTests> test_runs(const RunCounts& runs, Direction direction, const StopToken& stop) {
  PROFD_CHECK(check(runs));
  const Sides sides = sides_of(runs);
  const std::size_t n = sides.runs.size();
  const Logs logs = logs_of(runs, sides);
  Split split(logs, n, sides.n_first);
  Divisions divisions(n, sides.n_first);
  RunsTests tests;
  tests.subjects.resize(runs.samples.size() / n);
  tests.least_p = least_p_of(runs, direction, divisions.count());

  // The first division is that of the sides themselves.
  std::vector<double> own(logs.size());
  std::vector<double> farthest;
  for (std::size_t d = 0; d < divisions.count(); ++d, divisions.next()) {
    PROFD_CHECK(stop.status());
    stop.make_way();
    split.divide(divisions.current());
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < logs.size(); ++i)
      most = std::max(most, distance(split, i, direction, sides.swapped));
    farthest.push_back(most);
    if (d > 0) continue;
    const double reach = student_quantile(kLevel / 2, split.degrees());
    for (std::size_t i = 0; i < logs.size(); ++i) {
      own[i] = distance(split, i, direction, sides.swapped);
      RunsTest& test = tests.subjects[logs.subject[i]].emplace();
      test.log_ratio = sides.swapped ? -split.log_ratio(i) : split.log_ratio(i);
      test.log_low = test.log_ratio - reach * split.deviation(i);
      test.log_high = test.log_ratio + reach * split.deviation(i);
    }
  }
  std::sort(farthest.begin(), farthest.end());
  for (std::size_t i = 0; i < logs.size(); ++i) {
    // Divisions that are the same but for rounding, as the mirrored one, are as far off.
    const double reached = own[i] - 1e-9 * std::fabs(own[i]);
    const auto at_least = farthest.end() - std::lower_bound(farthest.begin(), farthest.end(), reached);
    tests.subjects[logs.subject[i]]->p = static_cast<double>(at_least) / static_cast<double>(farthest.size());
  }
  return tests;
}

}  // namespace profd
