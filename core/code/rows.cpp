#include "core/code/rows.h"

#include <algorithm>

namespace profd {

std::uint32_t row_at(const CodeRows& rows, std::uint64_t address) {
  const auto after = std::upper_bound(rows.address.begin(), rows.address.end(), address);
  if (after == rows.address.begin()) return kNone;
  const auto row = static_cast<std::uint32_t>(after - rows.address.begin() - 1);
  return address - rows.address[row] < rows.length[row] ? row : kNone;
}

std::vector<std::uint32_t> target_rows(const CodeRows& rows) {
  std::vector<std::uint32_t> found(rows.size(), kNone);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows.target[i] == kNoTarget) continue;
    const std::uint32_t row = row_at(rows, rows.target[i]);
    if (row != kNone && rows.address[row] == rows.target[i]) found[i] = row;
  }
  return found;
}

}  // namespace profd
