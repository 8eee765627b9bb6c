// Where a function is defined of which a profile knows lines of its code and no beginning.
#pragma once

#include <cstdint>
#include <string_view>

namespace profd {

// The nearest line of `text` at or above `line` (1-based) on which the written name of the function follows a
// word that defines functions in some language; 0: there is none within kMaxBody lines.
std::uint32_t definition_above(std::string_view text, std::string_view function, std::uint32_t line);

inline constexpr std::uint32_t kMaxBody = 2000;

}  // namespace profd
