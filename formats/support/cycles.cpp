#include "formats/support/cycles.h"

#include <algorithm>

#include "core/support/id.h"

namespace profd {

// Tarjan's algorithm; `path` holds what a recursion would hold.
std::vector<std::uint32_t> find_components(std::uint32_t n,
                                           std::span<const std::pair<std::uint32_t, std::uint32_t>> edges) {
  std::vector<std::uint32_t> first(n + std::size_t{1}, 0), target(edges.size());
  for (const auto& [from, to] : edges) ++first[from + std::size_t{1}];
  for (std::size_t i = 1; i <= n; ++i) first[i] += first[i - 1];
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (const auto& [from, to] : edges) target[next[from]++] = to;

  std::copy(first.begin(), first.end() - 1, next.begin());
  std::vector<std::uint32_t> component(n, kNone), number(n, kNone), low(n, 0), path, open;
  std::uint32_t n_numbers = 0, n_components = 0;
  const auto enter = [&](std::uint32_t node) {
    number[node] = low[node] = n_numbers++;
    path.push_back(node);
    open.push_back(node);
  };
  for (std::uint32_t root = 0; root < n; ++root) {
    if (number[root] != kNone) continue;
    enter(root);
    while (!path.empty()) {
      const std::uint32_t node = path.back();
      if (next[node] < first[node + std::size_t{1}]) {
        const std::uint32_t to = target[next[node]++];
        if (number[to] == kNone)
          enter(to);
        else if (component[to] == kNone)
          low[node] = std::min(low[node], number[to]);
        continue;
      }
      path.pop_back();
      if (!path.empty()) low[path.back()] = std::min(low[path.back()], low[node]);
      if (low[node] != number[node]) continue;
      while (component[node] == kNone) {
        component[open.back()] = n_components;
        open.pop_back();
      }
      ++n_components;
    }
  }
  return component;
}

}  // namespace profd
