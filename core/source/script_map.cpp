#include "core/source/script_map.h"

#include <algorithm>

namespace profd {
namespace {

// The first segment at or behind a place.
std::uint32_t lower_bound(const ScriptMap& map, std::uint32_t line, std::uint32_t column) {
  std::size_t low = 0, high = map.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const bool before = map.line[middle] != line ? map.line[middle] < line : map.column[middle] < column;
    if (before)
      low = middle + 1;
    else
      high = middle;
  }
  return static_cast<std::uint32_t>(low);
}

}  // namespace

std::uint32_t ScriptMap::find(std::uint32_t of_line, std::uint32_t of_column) const {
  std::uint32_t at = lower_bound(*this, of_line, of_column);
  if (at < size() && line[at] == of_line && column[at] == of_column) return at;
  if (at == 0 || line[at - 1] != of_line) return kNone;
  return lower_bound(*this, of_line, column[at - 1]);
}

std::optional<SourceLine> only_line(const ScriptMap& map, std::uint32_t line, std::uint32_t column) {
  std::uint32_t at = map.find(line, column);
  if (at == kNone) at = lower_bound(map, line, column);
  if (at >= map.size() || map.line[at] != line) return std::nullopt;
  const SourceLine only{map.source[at], map.source_line[at]};
  if (only.source == kNone) return std::nullopt;
  for (++at; at < map.size() && map.line[at] == line; ++at)
    if (map.source[at] != only.source || map.source_line[at] != only.line) return std::nullopt;
  return only;
}

}  // namespace profd
