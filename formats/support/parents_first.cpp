#include "formats/support/parents_first.h"

#include "core/support/id.h"

namespace profd {

ParentsFirst parents_first(std::span<const std::uint32_t> parent) {
  const auto n = static_cast<std::uint32_t>(parent.size());
  ParentsFirst out;
  out.order.reserve(n);
  bool sorted = true;
  for (std::uint32_t row = 0; row < n && sorted; ++row) sorted = parent[row] == kNone || parent[row] < row;
  if (sorted) {
    for (std::uint32_t row = 0; row < n; ++row) out.order.push_back(row);
    return out;
  }
  std::vector<std::uint32_t> first(n + std::size_t{1}, 0), children(n);
  for (std::uint32_t row = 0; row < n; ++row) {
    if (parent[row] == kNone)
      out.order.push_back(row);
    else
      ++first[parent[row] + std::size_t{1}];
  }
  for (std::uint32_t row = 0; row < n; ++row) first[row + std::size_t{1}] += first[row];
  std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
  for (std::uint32_t row = 0; row < n; ++row) {
    if (parent[row] != kNone) children[fill[parent[row]]++] = row;
  }
  for (std::size_t done = 0; done < out.order.size(); ++done) {
    const std::uint32_t row = out.order[done];
    for (std::uint32_t c = first[row]; c < first[row + std::size_t{1}]; ++c) out.order.push_back(children[c]);
  }
  if (out.order.size() == n) return out;
  std::vector<bool> reached(n, false);
  for (const std::uint32_t row : out.order) reached[row] = true;
  for (std::uint32_t row = 0; row < n && out.on_cycle == kNone; ++row) {
    if (!reached[row]) out.on_cycle = row;
  }
  return out;
}

}  // namespace profd
