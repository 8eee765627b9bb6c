#pragma once

#include <cstdint>
#include <string_view>

namespace profd::bench {

struct WalkResult {
  std::uint64_t samples;
  std::uint64_t references;
  std::uint64_t value_sum;  // over every metric; wraps
};

// Reads every varint of every sample of a pprof message and sums the values. Throws protozero's exceptions.
WalkResult walk_varints(std::string_view pprof);

// Stores the samples: a column of location ids, the end of each stack in it, and a column a metric.
WalkResult fill_columns(std::string_view pprof);

}  // namespace profd::bench
