// One run before, one run after: what the samples of a subject (a function, a path, what a rule of a gate is
// about) say of its change, sampling noise taken into account. How far runs of the same program differ from
// one another cannot be seen in one run a side, and is in none of these numbers.
#pragma once

#include <cstddef>
#include <optional>

namespace profd {

// Samples of one subject, as counted: not nanoseconds, not bytes that each stands for.
struct SamplePair {
  double before = 0;
  double after = 0;
};

// What the samples of an unchanged subject are proportional to: both 1 for raw counts, durations for values
// per second, totals for shares. Only their ratio matters.
struct Exposures {
  double before = 1;
  double after = 1;
};

inline constexpr double kLevel = 0.05;  // of a whole family of questions

// Chances, if nothing had changed, of a division of the samples between the sides that is at least as uneven.
struct ChangeTest {
  double p = 1;        // in either direction: twice the smaller of the next two, at most 1
  double rise_p = 1;   // as many samples after, or more
  double fall_p = 1;   // as few, or fewer
  double least_p = 1;  // the smallest p that any division of so many samples can have
};

// Binomial, given the sum of the samples, which are first divided by `dispersion` (see dispersion.h). Exact
// for whole numbers, smooth between them. No samples at all are no evidence: every p is 1. Nothing when a
// count is negative, an exposure not above 0, a dispersion below 1, or any of them not finite.
std::optional<ChangeTest> test_change(const SamplePair& samples, const Exposures& exposures,
                                      double dispersion);

// Within which the true ratio of after to before, each by its exposure, lies with the confidence asked for:
// of all such intervals, so many hold it (mid-p). No upper end where nothing was before: any ratio is
// possible.
struct RatioInterval {
  double low = 0;
  std::optional<double> high;
};

// Nothing as with test_change(), when neither side has a sample, and for a confidence not within (0, 1).
std::optional<RatioInterval> ratio_interval(const SamplePair& samples, const Exposures& exposures,
                                            double dispersion, double confidence = 1 - kLevel);

// The smallest rise, as a part of what was before (0.39 is +39 %), that would be found in 95 of 100 pairs
// when `n_questions` are asked at once at kLevel. `samples_before`: how many the subject has before. Nothing
// where test_change() has nothing, without samples, and without a question.
std::optional<double> smallest_rise_seen(double samples_before, const Exposures& exposures, double dispersion,
                                         std::size_t n_questions);

}  // namespace profd
