// Dispersion: how many times larger the variance of a count of samples is than if each had fallen on its own.
// It is 1 for independent samples, above it when samples come in clusters: repeats, phases of the program,
// one tick of a clock that is noted in many threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/support/result.h"

namespace profd {

inline constexpr std::size_t kWindows = 40;  // into which a run is cut, all equally long

// Where a profile does not say when its samples were taken.
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

// The subjects, ascending, whose samples drift on a side: neighbouring windows are more alike than chance
// lets them be (kLevel for all together). Their phases are longer than windows, and their dispersion is too
// low. Fails as dispersions() does.
Result<std::vector<std::uint32_t>> drifting(const WindowCounts& counts);

}  // namespace profd
