#include "core/code/line_ranges.h"

#include <algorithm>
#include <tuple>

namespace profd {

LineRanges line_ranges(std::span<const std::uint32_t> file, std::span<const std::uint32_t> line) {
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>> runs;
  for (std::uint32_t row = 0; row < file.size();) {
    std::uint32_t end = row + 1;
    while (end < file.size() && file[end] == file[row] && line[end] == line[row]) ++end;
    if (line[row] != 0) runs.emplace_back(file[row], line[row], row, end - row);
    row = end;
  }
  std::sort(runs.begin(), runs.end());
  LineRanges ranges;
  for (const auto& [of_file, of_line, first, count] : runs) {
    ranges.file.push_back(of_file);
    ranges.line.push_back(of_line);
    ranges.first.push_back(first);
    ranges.count.push_back(count);
  }
  return ranges;
}

}  // namespace profd
