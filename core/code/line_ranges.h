// Which rows of code a source line became.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace profd {

// Runs of rows of one line, ascending by file, line and row; a line has as many as there are runs.
struct LineRanges {
  std::vector<std::uint32_t> file, line;
  std::vector<std::uint32_t> first, count;  // rows
  std::size_t size() const { return file.size(); }
};

// By row: file (an id of the caller's) and line; rows of line 0 are of none.
LineRanges line_ranges(std::span<const std::uint32_t> file, std::span<const std::uint32_t> line);

}  // namespace profd
