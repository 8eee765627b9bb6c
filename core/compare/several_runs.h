// Several runs before, several after: which subjects differ by more than runs of the same program do. Runs
// are never added up, since how they differ is what a change is measured by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

struct RunCounts {
  std::size_t n_before = 0;           // runs before
  std::size_t n_after = 0;            // and after
  std::span<const double> samples;    // of subject s in [s * n, (s + 1) * n), n runs, those before first
  std::span<const double> exposures;  // of each run, as in Exposures; empty when all are alike
};

// Fewer samples a run say too little of how runs differ.
inline constexpr double kSamplesARun = 10;

enum class Direction : std::uint8_t { both, rise };

struct RunsTest {
  double log_ratio = 0;  // of after to before, natural logarithm, each run by its exposure
  double log_low = 0;    // within these it lies with confidence 1 - kLevel,
  double log_high = 0;   // for one subject, asked alone
  // The chance that any of all subjects differs as much when runs are divided between the sides at random: at
  // most kLevel stands out, among however many subjects.
  double p = 1;
};

struct RunsTests {
  std::vector<std::optional<RunsTest>> subjects;  // nothing below kSamplesARun, both sides taken together
  // The smallest p that so many runs can have. Above kLevel nothing can stand out: more runs are needed.
  double least_p = 1;
};

// The difference of mean logarithms over its deviation, whose variance is drawn towards what a subject of so
// many samples should have; p from dividing the runs anew, in all ways or, of very many, in 2,000 that are
// the same each time. Fails with `invalid` when there are fewer than three runs or none on a side, when spans
// do not fit, for samples that are negative or not finite and exposures not above 0; with `cancelled`.
Result<RunsTests> test_runs(const RunCounts& runs, Direction direction, const StopToken& stop);

}  // namespace profd
