#include "core/view/neighbour_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "core/view/sweep.h"

namespace profd {
namespace {

// Sums by pair of keys: open addressing, no memory a pair but its row.
template <class T>
class EdgeSums {
 public:
  struct Edge {
    std::uint64_t pair = kFree;
    T total{}, width{}, gross{};  // gross: width before anything is taken off again
  };

  EdgeSums() : edges_(1u << 12) {}

  Edge& at(Key of, Key other) {
    if ((n_ + 1) * 10 > edges_.size() * 6) grow();
    Edge& edge = find(edges_, std::uint64_t{of} << 32 | other);
    if (edge.pair == kFree) {
      edge.pair = std::uint64_t{of} << 32 | other;
      ++n_;
    }
    return edge;
  }
  std::vector<Edge>& edges() { return edges_; }
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};

 private:
  static Edge& find(std::vector<Edge>& edges, std::uint64_t pair) {
    const int shift = 64 - std::countr_zero(edges.size());
    std::size_t slot = static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15ull) >> shift);
    while (edges[slot].pair != kFree && edges[slot].pair != pair) slot = (slot + 1) & (edges.size() - 1);
    return edges[slot];
  }
  void grow() {
    std::vector<Edge> more(edges_.size() * 2);
    for (const Edge& edge : edges_)
      if (edge.pair != kFree) find(more, edge.pair) = edge;
    edges_ = std::move(more);
  }

  std::vector<Edge> edges_;
  std::size_t n_ = 0;
};

template <class T>
bool is_nothing(T width, T gross) {
  if constexpr (std::is_same_v<T, double>) return std::fabs(width) <= gross * 1e-12;
  return width == 0;
}

// By key, heaviest first, those of equal weight by name.
template <class T>
void freeze(const Selection& s, EdgeSums<T>& sums, std::vector<std::uint32_t>& first,
            std::vector<Neighbour>& neighbours) {
  auto& edges = sums.edges();
  std::erase_if(edges, [](const auto& edge) {
    return edge.pair == EdgeSums<T>::kFree || is_nothing(edge.width, edge.gross);
  });
  const auto of = [](const auto& edge) { return static_cast<Key>(edge.pair >> 32); };
  const auto other = [](const auto& edge) { return static_cast<Key>(edge.pair); };
  std::sort(edges.begin(), edges.end(), [&](const auto& a, const auto& b) {
    if (of(a) != of(b)) return of(a) < of(b);
    if (a.width != b.width) return a.width > b.width;
    return s.boxes->keys->name_rank[other(a)] < s.boxes->keys->name_rank[other(b)];
  });
  first.assign(s.boxes->keys->n_keys() + 1, 0);
  for (const auto& edge : edges) {
    ++first[of(edge) + 1];
    neighbours.push_back({other(edge), Value(edge.total)});
  }
  for (std::size_t k = 1; k < first.size(); ++k) first[k] += first[k - 1];
}

// Callers: a stack counts at the first occurrence of a key on it. Callees: at the last one, so what is below
// an occurrence counts for the call under it, and is taken off again where a deeper occurrence has it.
template <class T>
Result<void> sum_edges(const Selection& s, const Column<T>& totals, const Column<T>& widths,
                       NeighbourTable& table, StopToken& stop) {
  const ContextTree& tree = s.profile->tree();
  const std::size_t n_keys = s.boxes->keys->n_keys();
  EdgeSums<T> callers, callees;
  std::vector<T> sums(n_keys);
  std::vector<std::uint32_t> path;  // contexts from the root to the one looked at, by depth
  std::vector<std::uint32_t>
      above;  // by depth: the depth of the next occurrence of the same key above; kNone
  std::vector<std::uint32_t> deepest(n_keys, kNone);  // by key: depth of its occurrence on the path
  const auto key_of = [&](std::uint32_t c) { return s.boxes->keys->of_frame[tree.frame[c]]; };
  const auto n = static_cast<std::uint32_t>(tree.size());
  for (std::uint32_t c = 1; c < n;) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (widths[c] == 0) {
      c = tree.subtree_end[c];
      continue;
    }
    const std::uint32_t parent = tree.parent[c];
    while (!path.empty() && path.back() != parent) {
      deepest[key_of(path.back())] = above.back();
      path.pop_back();
      above.pop_back();
    }
    const Key key = key_of(c);
    const std::uint32_t same = deepest[key];
    if (parent != 0) {
      auto& call = callees.at(key_of(parent), key);
      call.total = add(call.total, totals[c], false);
      call.width = add(call.width, widths[c], false);
      call.gross = add(call.gross, widths[c], false);
    }
    if (same == kNone) {
      sums[key] = add(sums[key], totals[c], false);
      if (parent != 0) {
        auto& call = callers.at(key, key_of(parent));
        call.total = add(call.total, totals[c], false);
        call.width = add(call.width, widths[c], false);
        call.gross = add(call.gross, widths[c], false);
      }
    } else {
      const std::uint32_t below = same + 1 < path.size() ? path[same + 1] : c;
      auto& call = callees.at(key, key_of(below));
      call.total = subtract(call.total, totals[c], false);
      call.width = subtract(call.width, widths[c], false);
    }
    deepest[key] = static_cast<std::uint32_t>(path.size());
    above.push_back(same);
    path.push_back(c);
    ++c;
  }
  for (const T sum : sums) table.total.emplace_back(sum);
  freeze(s, callers, table.first_caller, table.caller);
  freeze(s, callees, table.first_callee, table.callee);
  return {};
}

Value minus(const Value& a, const Value& b) {
  if (const auto* x = std::get_if<std::int64_t>(&a))
    if (const auto* y = std::get_if<std::int64_t>(&b)) return Value(subtract(*x, *y, false));
  return Value(as_double(a) - as_double(b));
}

void take(const std::vector<std::uint32_t>& first, const std::vector<Neighbour>& all, Key key, std::size_t n,
          std::vector<Neighbour>& out, std::size_t& n_all, Value& none) {
  n_all = first[key + 1] - first[key];
  for (std::uint32_t i = first[key]; i < first[key + 1]; ++i) {
    if (out.size() < n) out.push_back(all[i]);
    none = minus(none, all[i].total);
  }
}

}  // namespace

Result<NeighbourTable> make_neighbour_table(const Selection& selection, StopToken stop) {
  NeighbourTable table;
  table.usable = selection.boxes->owner.empty() && !selection.sums->saturated;
  if (!table.usable) return table;
  table.estimated = selection.estimated;
  table.stated = selection.stated;
  PROFD_CHECK(std::visit(
      [&]<class T>(const Column<T>& totals) {
        return sum_edges(selection, totals, std::get<Column<T>>(selection.sums->widths), table, stop);
      },
      selection.sums->totals));
  return table;
}

Neighbours neighbours_in(const NeighbourTable& table, Key key, std::size_t n) {
  Neighbours out;
  out.total = out.no_caller = out.no_callee = table.total[key];
  take(table.first_caller, table.caller, key, n, out.callers, out.n_callers, out.no_caller);
  take(table.first_callee, table.callee, key, n, out.callees, out.n_callees, out.no_callee);
  if (table.estimated) take_stated(table.stated.get(), true, key, n, out);
  return out;
}

}  // namespace profd
