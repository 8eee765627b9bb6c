// Dispersion: how many times larger the variance of a count of samples is than if each had fallen on its own.
// It is 1 for independent samples, above it when samples come in clusters: repeats, phases of the program,
// one tick of a clock that is noted in many threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/compare/one_run.h"
#include "core/support/result.h"

namespace profd {

inline constexpr std::size_t kWindows = 40;  // into which a run is cut, all equally long

// Where a profile does not say when its samples were taken, and there is no pair that is known to be
// unchanged.
inline constexpr double kUnknownDispersion = 2;

// Samples of each subject in each window of a side: those of subject s in [s * n_windows, (s + 1) *
// n_windows). A side without times is empty.
struct WindowCounts {
  std::size_t n_windows = kWindows;
  std::span<const double> before;
  std::span<const double> after;
};

// By subject, each >= 1: the variance over the mean of its windows, both sides together, drawn towards the
// median of all subjects that have samples enough, since 40 windows alone say it badly. kUnknownDispersion
// for all when none has. Fails with `invalid` when the two sides are of other subjects, with less than two
// windows, and for counts that are negative or not finite.
Result<std::vector<double>> dispersions(const WindowCounts& counts);

// One for all subjects, >= 1, of two runs of the same program: by how much their samples differ over what
// they would on their own. `selfs`: of functions, so that no sample counts twice. Nothing when fewer than 20
// of them have 10 samples or more, and for exposures not above 0 or not finite.
std::optional<double> dispersion_of_unchanged(std::span<const SamplePair> selfs, const Exposures& exposures);

// The subjects, ascending, whose samples drift on a side: neighbouring windows are more alike than chance
// lets them be (kLevel for all together). Their phases are longer than windows, and their dispersion is too
// low. Fails as dispersions() does.
Result<std::vector<std::uint32_t>> drifting(const WindowCounts& counts);

}  // namespace profd
