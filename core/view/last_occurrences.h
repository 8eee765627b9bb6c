// What the contexts below a fragment weigh when each stack counts at its last occurrence of it: the total of
// a context less what the occurrences below it take.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/model/context_tree.h"
#include "core/support/column.h"
#include "core/support/sums.h"

namespace profd {

// Fractional sums leave dust where the exact answer is nothing.
inline std::int64_t without_dust(std::int64_t value, std::int64_t) {
  return value;
}
inline double without_dust(double value, double width) {
  return std::fabs(value) <= width * 1e-12 ? 0.0 : value;
}

template <class T>
class LastOccurrences {
 public:
  [[nodiscard]] bool empty() const { return at_.empty(); }

  // Total and width of the stacks below c whose last occurrence is not below c.
  std::pair<T, T> weight(const ContextTree& tree, const Column<T>& totals, const Column<T>& widths,
                         bool saturated, std::uint32_t c) const {
    std::pair<T, T> out{totals[c], widths[c]};
    if (at_.empty()) return out;
    const auto from = std::upper_bound(at_.begin(), at_.end(), c);
    if (from == at_.end() || *from >= tree.subtree_end[c]) return out;
    const auto to = std::lower_bound(from, at_.end(), tree.subtree_end[c]);
    const auto a = static_cast<std::size_t>(from - at_.begin());
    const auto b = static_cast<std::size_t>(to - at_.begin());
    out.first = subtract(out.first, subtract(taken_total_[a], taken_total_[b], saturated), saturated);
    out.second = subtract(out.second, subtract(taken_width_[a], taken_width_[b], saturated), saturated);
    out.first = without_dust(out.first, widths[c]);
    out.second = without_dust(out.second, widths[c]);
    return out;
  }

  // `found`: every occurrence, ascending. Only needed where one lies below another.
  void take(std::vector<std::uint32_t> found, const ContextTree& tree, const Column<T>& totals,
            const Column<T>& widths, bool saturated) {
    at_ = std::move(found);
    const std::size_t n = at_.size();
    taken_total_.assign(n + 1, T{});
    taken_width_.assign(n + 1, T{});
    for (std::size_t i = n; i-- > 0;) {
      const auto [total, width] = weight(tree, totals, widths, saturated, at_[i]);
      taken_total_[i] = add(taken_total_[i + 1], total, saturated);
      taken_width_[i] = add(taken_width_[i + 1], width, saturated);
    }
  }

  bool contains(std::uint32_t c) const {
    return !at_.empty() && std::binary_search(at_.begin(), at_.end(), c);
  }
  // The first in [from, end), `end` when there is none.
  std::uint32_t next(std::uint32_t from, std::uint32_t end) const {
    if (at_.empty()) return end;
    const auto found = std::lower_bound(at_.begin(), at_.end(), from);
    return found == at_.end() ? end : std::min(*found, end);
  }
  std::size_t memory() const {
    return at_.capacity() * sizeof(std::uint32_t) +
           (taken_total_.capacity() + taken_width_.capacity()) * sizeof(T);
  }

 private:
  std::vector<std::uint32_t> at_;
  // Sums from the end, so that they can be made from the deepest occurrence up: of what is counted at
  // occurrences [i, n).
  std::vector<T> taken_total_, taken_width_;
};

}  // namespace profd
