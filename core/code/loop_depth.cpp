#include "core/code/loop_depth.h"

#include <numeric>

#include "core/support/id.h"

namespace profd {
namespace {

// Neighbours of node n: [first[n], first[n + 1]).
struct Neighbours {
  std::vector<std::uint32_t> first, node;
};

Neighbours neighbours_of(std::uint32_t n_nodes, const std::vector<Edge>& edges, bool forward) {
  Neighbours out;
  out.first.assign(std::size_t{n_nodes} + 1, 0);
  out.node.resize(edges.size());
  for (const auto& [from, to] : edges) ++out.first[(forward ? from : to) + 1];
  std::partial_sum(out.first.begin(), out.first.end(), out.first.begin());
  std::vector<std::uint32_t> next(out.first.begin(), out.first.end() - 1);
  for (const auto& [from, to] : edges) out.node[next[forward ? from : to]++] = forward ? to : from;
  return out;
}

// The nodes in the order in which the walk met them. Ranks [r, end[r]) are what it found below rank r.
struct Walk {
  std::vector<std::uint32_t> node, end;  // by rank
  std::vector<std::uint32_t> rank;       // by node, kNone: not met
  bool is_below(std::uint32_t head, std::uint32_t other) const { return head <= other && other < end[head]; }
};

Walk walk_in_depth(std::uint32_t n_nodes, const Neighbours& next) {
  Walk walk;
  walk.rank.assign(n_nodes, kNone);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> path;  // rank, which neighbour comes next
  const auto meet = [&](std::uint32_t node) {
    walk.rank[node] = static_cast<std::uint32_t>(walk.node.size());
    path.emplace_back(walk.rank[node], next.first[node]);
    walk.node.push_back(node);
    walk.end.push_back(0);
  };
  meet(0);
  while (!path.empty()) {
    auto& [rank, at] = path.back();
    if (at == next.first[walk.node[rank] + 1]) {
      walk.end[rank] = static_cast<std::uint32_t>(walk.node.size());
      path.pop_back();
    } else if (const std::uint32_t child = next.node[at++]; walk.rank[child] == kNone) {
      meet(child);
    }
  }
  return walk;
}

std::uint32_t root_of(std::vector<std::uint32_t>& merged_into, std::uint32_t rank) {
  while (merged_into[rank] != rank) {
    merged_into[rank] = merged_into[merged_into[rank]];
    rank = merged_into[rank];
  }
  return rank;
}

}  // namespace

std::vector<std::uint32_t> loop_depths(std::uint32_t n_nodes, const std::vector<Edge>& edges) {
  std::vector<std::uint32_t> depth(n_nodes, 0);
  if (n_nodes == 0) return depth;
  const Walk walk = walk_in_depth(n_nodes, neighbours_of(n_nodes, edges, true));
  const Neighbours before = neighbours_of(n_nodes, edges, false);
  const auto n = static_cast<std::uint32_t>(walk.node.size());

  // By rank. Inner loops come first, as their heads were met later; one that is done counts as its head.
  std::vector<std::uint32_t> merged_into(n), head_above(n, kNone);
  std::iota(merged_into.begin(), merged_into.end(), 0u);
  std::vector<std::uint8_t> is_head(n, 0);
  std::vector<std::uint32_t> open;
  const auto add_ways_into = [&](std::uint32_t rank, std::uint32_t head) {
    const std::uint32_t node = walk.node[rank];
    for (std::uint32_t i = before.first[node]; i < before.first[node + 1]; ++i) {
      const std::uint32_t from = walk.rank[before.node[i]];
      if (from != kNone && walk.is_below(head, from)) open.push_back(from);
    }
  };
  for (std::uint32_t head = n; head-- > 0;) {
    add_ways_into(head, head);
    if (open.empty()) continue;
    is_head[head] = 1;
    while (!open.empty()) {
      const std::uint32_t rank = root_of(merged_into, open.back());
      open.pop_back();
      if (rank == head) continue;
      merged_into[rank] = head;
      head_above[rank] = head;
      add_ways_into(rank, head);
    }
  }
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    const std::uint32_t outside = head_above[rank] == kNone ? 0 : depth[walk.node[head_above[rank]]];
    depth[walk.node[rank]] = outside + is_head[rank];
  }
  return depth;
}

}  // namespace profd
