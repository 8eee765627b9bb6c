#include "formats/support/dominators.h"

#include <algorithm>

#include "core/support/id.h"

namespace profd {
namespace {

using Edges = std::span<const std::pair<std::uint32_t, std::uint32_t>>;

// Neighbours of node i: [first[i], first[i + 1]) of `to`.
struct Adjacency {
  std::vector<std::uint32_t> first, to;
};

Adjacency adjacency(std::uint32_t n, Edges edges, bool backwards) {
  Adjacency out;
  out.first.assign(std::size_t{n} + 2, 0);
  for (const auto& [from, to] : edges) ++out.first[std::size_t{backwards ? to : from} + 2];
  for (std::size_t i = 2; i < out.first.size(); ++i) out.first[i] += out.first[i - 1];
  out.to.resize(edges.size());
  for (const auto& [from, to] : edges)
    out.to[out.first[std::size_t{backwards ? to : from} + 1]++] = backwards ? from : to;
  out.first.pop_back();
  return out;
}

class Search {
 public:
  Search(std::uint32_t n, Edges edges)
      : n_(n), successors_(adjacency(n, edges, false)), predecessors_(adjacency(n, edges, true)) {}

  Dominators run() {
    walk();
    semidominators();
    number_tree();
    return std::move(out_);
  }

 private:
  // Depth-first numbers; everything below is in these numbers.
  void walk() {
    number_.assign(n_, kNone);
    std::vector<std::uint32_t> next(successors_.first.begin(), successors_.first.end() - 1);
    std::vector<std::uint32_t> path{0};
    number_[0] = 0;
    node_.push_back(0);
    parent_.push_back(kNone);
    while (!path.empty()) {
      const std::uint32_t at = path.back();
      if (next[at] == successors_.first[at + 1]) {
        path.pop_back();
        continue;
      }
      const std::uint32_t to = successors_.to[next[at]++];
      if (number_[to] != kNone) continue;
      number_[to] = static_cast<std::uint32_t>(node_.size());
      node_.push_back(to);
      parent_.push_back(number_[at]);
      path.push_back(to);
    }
  }

  // The node of least semidominator between v and the root of its tree in the forest; compresses the path.
  std::uint32_t least(std::uint32_t v) {
    if (ancestor_[v] == kNone) return v;
    path_.clear();
    std::uint32_t u = v;
    for (; ancestor_[ancestor_[u]] != kNone; u = ancestor_[u]) path_.push_back(u);
    for (std::size_t i = path_.size(); i-- > 0;) {
      const std::uint32_t w = path_[i], a = ancestor_[w];
      if (semi_[label_[a]] < semi_[label_[w]]) label_[w] = label_[a];
      ancestor_[w] = ancestor_[a];
    }
    return label_[v];
  }

  void semidominators() {
    const auto n = static_cast<std::uint32_t>(node_.size());
    semi_.resize(n);
    label_.resize(n);
    ancestor_.assign(n, kNone);
    std::vector<std::uint32_t> idom(n, kNone), bucket(n, kNone), next_in_bucket(n, kNone);
    for (std::uint32_t i = 0; i < n; ++i) semi_[i] = label_[i] = i;
    for (std::uint32_t w = n; w-- > 1;) {
      const std::uint32_t node = node_[w];
      for (std::uint32_t e = predecessors_.first[node]; e < predecessors_.first[node + 1]; ++e) {
        const std::uint32_t from = number_[predecessors_.to[e]];
        if (from == kNone) continue;
        semi_[w] = std::min(semi_[w], semi_[least(from)]);
      }
      next_in_bucket[w] = bucket[semi_[w]];
      bucket[semi_[w]] = w;
      const std::uint32_t parent = parent_[w];
      ancestor_[w] = parent;
      for (std::uint32_t v = bucket[parent]; v != kNone; v = next_in_bucket[v]) {
        const std::uint32_t u = least(v);
        idom[v] = semi_[u] < semi_[v] ? u : parent;
      }
      bucket[parent] = kNone;
    }
    out_.idom.assign(n_, kNone);
    for (std::uint32_t w = 1; w < n; ++w) {
      if (idom[w] != semi_[w]) idom[w] = idom[idom[w]];
      out_.idom[node_[w]] = node_[idom[w]];
    }
  }

  // Preorder ranges of the dominator tree: sizes from the last to the first, then places in order.
  void number_tree() {
    out_.order = node_;
    out_.first.assign(n_, 0);
    out_.last.assign(n_, 0);
    std::vector<std::uint32_t> size(n_, 1), used(n_, 1);
    for (std::size_t i = node_.size(); i-- > 1;) size[out_.idom[node_[i]]] += size[node_[i]];
    for (const std::uint32_t node : node_) {
      const std::uint32_t up = out_.idom[node];
      if (up != kNone) {
        out_.first[node] = out_.first[up] + used[up];
        used[up] += size[node];
      }
      out_.last[node] = out_.first[node] + size[node];
    }
  }

  std::uint32_t n_;
  Adjacency successors_, predecessors_;
  std::vector<std::uint32_t> number_, node_, parent_;
  std::vector<std::uint32_t> semi_, label_, ancestor_, path_;
  Dominators out_;
};

}  // namespace

Dominators find_dominators(std::uint32_t n, Edges edges) {
  return Search(n, edges).run();
}

}  // namespace profd
