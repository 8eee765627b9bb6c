// Padding by terminal columns.
#pragma once

#include <string>
#include <string_view>

#include "server/feature/escape.h"

namespace profd {

inline std::string right_aligned(std::string_view text, std::size_t width) {
  const std::size_t w = display_width(text);
  return std::string(w < width ? width - w : 0, ' ') + std::string(text);
}

inline std::string left_aligned(std::string_view text, std::size_t width) {
  const std::size_t w = display_width(text);
  return std::string(text) + std::string(w < width ? width - w : 0, ' ');
}

}  // namespace profd
