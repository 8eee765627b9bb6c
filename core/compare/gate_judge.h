// What the numbers of a gate's rules say: past the limit beyond noise, below it, or neither.
//
// One run a side is judged by its samples (one_run.h); all rules of a gate and all subjects of each are one
// family (Holm). Several runs are judged by how runs of the same side differ (several_runs.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/compare/gate_rule.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

enum class GateVerdict : std::uint8_t { held, undecided, broken };

// One rule's subjects in numbers. By run, those before first. Of `gone` the sides are exchanged.
struct GateNumbers {
  std::size_t n_before = 0, n_after = 0;
  std::vector<double> values;      // of subject s in run r at s * n_runs + r
  std::vector<double> samples;     // likewise; empty where not known
  std::vector<double> totals;      // of the metric as a whole, by run
  std::vector<double> counted;     // samples as a whole, by run; empty as `samples` is
  std::vector<double> dispersion;  // by subject, as in dispersion.h; empty: kUnknownDispersion for all
  std::vector<double> exposures;   // what values are divided by, by run: 1, a scale's inverse, a counter; > 0
  GateLimit::Kind kind = GateLimit::Kind::relative;
  double limit = 0;  // relative, points, share: a fraction, 0.05 for 5 %; absolute: in the metric's unit
  // A share is compared with the limit alone, whatever was before; else a rise has to be proven.
  bool against_limit = false;
  // Questions that were as good as asked in choosing the subjects: functions that are on both sides.
  std::size_t n_more_questions = 0;
  [[nodiscard]] std::size_t n_runs() const { return n_before + n_after; }
  [[nodiscard]] std::size_t n_subjects() const { return n_runs() == 0 ? 0 : values.size() / n_runs(); }
};

enum class GateReason : std::uint8_t {
  none,
  noise,          // the interval has the limit in it, or the rise is not proven
  few_samples,    // too few to be judged at all
  few_runs,       // so few runs prove nothing, however far apart
  noise_unknown,  // no samples are known: the estimate is near the limit
};

struct GateJudgement {
  GateVerdict verdict = GateVerdict::undecided;
  GateReason reason = GateReason::none;
  bool proven = false;  // a rise, or of shares against the limit that they are past it, whatever the estimate
  // By exposure: the mean of a side's runs, of points and shares a part of the total.
  double before = 0, after = 0;
  double allowed = 0;  // what `after` may be
  // Within which it lies, 95 %: of shares against the limit the share after, else after over before.
  std::optional<double> low, high;
  std::optional<double> seen;  // the smallest rise that one run a side would show, as a part of before
};

struct GateJudgements {
  std::vector<std::vector<GateJudgement>> rules;  // by rule, by subject
  std::size_t n_questions = 0;
};
// Rules have runs of the same numbers (asserted).
Result<GateJudgements> judge_gate(const std::vector<GateNumbers>& rules, const StopToken& stop);

}  // namespace profd
