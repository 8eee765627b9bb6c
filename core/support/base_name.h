// The last part of a path.
#pragma once

#include <string_view>

namespace profd {

// "src/a/b.cc" -> "b.cc"; both separators, trailing ones do not count. "/" and "" are themselves.
inline std::string_view base_name(std::string_view path) {
  while (path.size() > 1 && (path.back() == '/' || path.back() == '\\')) path.remove_suffix(1);
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

}  // namespace profd
