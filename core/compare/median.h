// The median of a few numbers, which it puts in another order.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

namespace profd {

// The middle two of a sorted even number; twice the same of an odd one.
struct Middle {
  double low, high;
};

// Of at least one value (asserted), none of them NaN.
inline Middle middle_of(std::vector<double>& values) {
  assert(!values.empty());
  const auto high = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), high, values.end());
  if (values.size() % 2 == 1) return {*high, *high};
  return {*std::max_element(values.begin(), high), *high};
}

inline double median_of(std::vector<double>& values) {
  const Middle middle = middle_of(values);
  return middle.low + (middle.high - middle.low) / 2;
}

}  // namespace profd
