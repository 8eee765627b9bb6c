// Names in the room there is, in a terminal and on the wire.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profd {

// The longest form of a name that fits (name_cuts()), without control characters; what even the shortest is
// too long for is cut at its end.
std::string fitted_name(std::string_view name, std::size_t columns);

// The cuts of a name in UTF-16 code units instead of bytes.
std::vector<std::uint32_t> cuts_in_utf16(std::string_view name, std::vector<std::uint32_t> cuts);

}  // namespace profd
