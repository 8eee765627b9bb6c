// Where a function stands, when only its name is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/profile.h"

namespace profd {

struct FunctionPlace {
  std::string file;        // as the profile says; "" unknown
  std::uint32_t line = 0;  // where it begins; 0 unknown
};

// Nothing where several functions have the name, or none has. A file of more than `max_file` bytes is left
// out. Looks at all functions: for workers.
std::optional<FunctionPlace> only_place_of(const Profile& profile, std::string_view name,
                                           std::size_t max_file);

}  // namespace profd
