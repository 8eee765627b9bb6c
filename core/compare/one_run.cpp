#include "core/compare/one_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/compare/distributions.h"

namespace profd {
namespace {

bool is_count(double x) {
  return std::isfinite(x) && x >= 0;
}

bool is_exposure(double x) {
  return std::isfinite(x) && x > 0;
}

bool testable(const SamplePair& samples, const Exposures& exposures, double dispersion) {
  return is_count(samples.before) && is_count(samples.after) && is_count(samples.before + samples.after) &&
         is_exposure(exposures.before) && is_exposure(exposures.after) &&
         is_exposure(exposures.after / exposures.before) && is_exposure(exposures.before / exposures.after) &&
         std::isfinite(dispersion) && dispersion >= 1;
}

SamplePair divided(const SamplePair& samples, double dispersion) {
  return {samples.before / dispersion, samples.after / dispersion};
}

// The tails of the samples after. Worked out for the side that has more than its part, so that swapping sides
// mirrors every digit.
BinomialTails tails_after(const SamplePair& n, const Exposures& by) {
  const double above = n.after * by.before, below = n.before * by.after;
  if (above > below || (above == below && by.after >= by.before))
    return binomial_tails(n.after, n.before, by.after, by.before);
  const BinomialTails mirrored = binomial_tails(n.before, n.after, by.before, by.after);
  return {mirrored.at_least, mirrored.at_most, mirrored.exactly};
}

// The lower end of the interval of the ratio, as a logarithm; n.after > 0. The upper end is that of swapped
// sides. -infinity where none is found, as for next to no samples.
double log_low(const SamplePair& n, const Exposures& by, double tail) {
  // Over the logarithm of the odds of a sample to be after, that of the tail is nearly straight.
  const auto off = [&](double log_odds) {
    const BinomialTails at = binomial_tails(n.after, n.before, std::exp(log_odds), 1);
    return std::log(std::max(at.at_least - at.exactly / 2, 1e-300) / tail);
  };
  constexpr double kEnd = 600;
  const double before = std::max(n.before, 0.5), deviation = std::sqrt(1 / n.after + 1 / before);
  const double guess = std::log(n.after / before) - normal_quantile(tail) * deviation;
  double low = std::clamp(guess, -kEnd, kEnd), high = low, off_low = off(low), off_high = off_low;
  for (double step = deviation / 4; off_low > 0; step *= 2) {
    if (low <= -kEnd) return -std::numeric_limits<double>::infinity();
    high = low;
    off_high = off_low;
    low = std::max(low - step, -kEnd);
    off_low = off(low);
  }
  for (double step = deviation / 4; off_high < 0 && high < kEnd; step *= 2) {
    low = high;
    off_low = off_high;
    high = std::min(high + step, kEnd);
    off_high = off(high);
  }
  for (int i = 0; i < 100 && high - low > 1e-13 * (1 + std::fabs(low)); ++i) {
    // Every third step halves, should secants creep.
    double at = low - off_low * (high - low) / (off_high - off_low);
    if (i % 3 == 2 || !(at > low && at < high)) at = low + (high - low) / 2;
    const double off_at = off(at);
    (off_at < 0 ? low : high) = at;
    (off_at < 0 ? off_low : off_high) = off_at;
  }
  return low + (high - low) / 2 - std::log(by.after / by.before);
}

}  // namespace

std::optional<ChangeTest> test_change(const SamplePair& samples, const Exposures& exposures,
                                      double dispersion) {
  if (!testable(samples, exposures, dispersion)) return std::nullopt;
  const SamplePair n = divided(samples, dispersion);
  const BinomialTails tails = tails_after(n, exposures);
  const double smaller_share =
      1 / (1 + std::max(exposures.before / exposures.after, exposures.after / exposures.before));
  ChangeTest test;
  test.rise_p = tails.at_least;
  test.fall_p = tails.at_most;
  test.p = std::min(1.0, 2 * std::min(test.rise_p, test.fall_p));
  test.least_p = std::min(1.0, 2 * std::pow(smaller_share, n.before + n.after));
  return test;
}

std::optional<RatioInterval> ratio_interval(const SamplePair& samples, const Exposures& exposures,
                                            double dispersion, double confidence) {
  if (!testable(samples, exposures, dispersion) || !(confidence > 0 && confidence < 1)) return std::nullopt;
  const SamplePair n = divided(samples, dispersion);
  if (n.before + n.after == 0) return std::nullopt;
  const double tail = (1 - confidence) / 2;
  RatioInterval interval;
  if (n.after > 0) interval.low = std::exp(log_low(n, exposures, tail));
  if (n.before > 0) {
    const double high = std::exp(-log_low({n.after, n.before}, {exposures.after, exposures.before}, tail));
    if (std::isfinite(high)) interval.high = high;
  }
  return interval;
}

std::optional<double> smallest_rise_seen(double samples_before, const Exposures& exposures, double dispersion,
                                         std::size_t n_questions) {
  if (!testable({samples_before, 0}, exposures, dispersion) || samples_before == 0 || n_questions == 0)
    return std::nullopt;
  constexpr double kMissed = 0.05;
  const double z =
      normal_quantile(kLevel / (2 * static_cast<double>(n_questions))) + normal_quantile(kMissed);
  // A rise x is seen when it is z deviations of the difference: with r after for one before by exposure,
  // samples x² r = dispersion z² (1 + x + r), to be solved for x.
  const double r = exposures.after / exposures.before;
  const double g = dispersion * z * z / (samples_before * r);
  return (g + std::sqrt(g * g + 4 * g * (1 + r))) / 2;
}

}  // namespace profd
