// Values that belong to no sample: readers may add to contexts beside the samples of a sample table.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/profile.h"

namespace profd {

// Row by row; `contexts` is ascending. Empty without a sample table (then all values are like that), and for
// almost all profiles with one. Metrics whose sums were clamped have none.
struct UnsampledValues {
  std::vector<std::uint32_t> contexts;
  std::vector<std::vector<Value>> values;  // by MetricId, each as long as contexts; empty when contexts is
};
UnsampledValues unsampled_values(const Profile& profile);

}  // namespace profd
