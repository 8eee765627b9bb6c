// One city of two versions of a program: what is in both has one place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/live/city_layout.h"

namespace profd {

// Columns, all equally long. First the methods of `before` in their order, then what `after` has more in its
// order: what `after` learns later goes to the end.
struct CityVersions {
  std::vector<CityMethod> methods;
  std::vector<std::uint32_t> before, after;  // row there; kNoCityRow: this version does not have it
};

// Methods are the same where package, class, name and signature are; of several that are the first goes with
// the first. The texts of the answer are those that were given.
CityVersions unite_versions(std::span<const CityMethod> before, std::span<const CityMethod> after);

}  // namespace profd
