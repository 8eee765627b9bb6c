// A path in one cell of a table.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace profd {

// Names joined by ";", root first. A name that has a ";", a quote or a backslash in it stands in double
// quotes, with a backslash before each quote and backslash: no two paths have one text.
std::string joined_path(std::span<const std::string_view> names);

}  // namespace profd
