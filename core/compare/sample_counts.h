// Which values of a diff count samples, so that their noise is known.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/composition.h"

namespace profd {

// How many samples a value stands for: the values of a metric of the inputs (row of Composition::of) times a
// factor by input.
struct SampleCounts {
  std::uint32_t of = 0;
  std::vector<double> factor;
};

// The samples of a metric of a diff: its metric `samples`, or values over the period of the sampling. Nothing
// where the inputs do not tell: counts of instructions, and what was scaled up from samples of bytes.
std::optional<SampleCounts> sample_counts(const Composition& composition, std::uint32_t of);

}  // namespace profd
