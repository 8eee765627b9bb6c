#include "core/model/preorder.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace profd {

Renumbered to_preorder(GrowingVector<std::uint32_t> parent, GrowingVector<std::uint32_t> frame,
                       StopToken stop) {
  const auto n = static_cast<std::uint32_t>(parent.size());
  // Children of i: [end[i - 1], end[i]), from 0 for the root.
  BigVector<std::uint32_t> end(n + 1, 0), children(n - 1);
  for (std::uint32_t i = 1; i < n; ++i) ++end[parent[i] + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  for (std::uint32_t i = 1; i < n; ++i) children[end[parent[i]]++] = i;

  Renumbered out;
  out.new_id.resize(n);
  BigVector<std::uint32_t> new_parent(n), new_frame(n);
  std::vector<std::uint32_t> pending{0};
  std::uint32_t next = 0;
  while (!pending.empty()) {
    if (stop.check()) return out;
    std::uint32_t old = pending.back();
    pending.pop_back();
    std::uint32_t above = old == 0 ? kNone : out.new_id[parent[old]];
    // Most contexts have one child: down to the leaf without the detour.
    for (;;) {
      const std::uint32_t id = next++;
      out.new_id[old] = id;
      new_parent[id] = std::exchange(above, id);
      new_frame[id] = frame[old];
      const auto first = children.begin() + (old == 0 ? 0 : end[old - 1]);
      const auto last = children.begin() + end[old];
      if (first == last) break;
      if (last - first > 1)
        std::sort(first, last, [&](std::uint32_t a, std::uint32_t b) { return frame[a] > frame[b]; });
      pending.insert(pending.end(), first, last - 1);
      old = last[-1];
    }
  }
  parent = {};
  frame = {};
  end = {};
  children = {};
  BigVector<std::uint32_t> new_end(n);
  std::iota(new_end.begin(), new_end.end(), 1u);
  for (std::uint32_t i = n; i-- > 1;) new_end[new_parent[i]] = std::max(new_end[new_parent[i]], new_end[i]);
  out.tree = {Column<std::uint32_t>(std::move(new_parent)), Column<std::uint32_t>(std::move(new_frame)),
              Column<std::uint32_t>(std::move(new_end))};
  return out;
}

}  // namespace profd
