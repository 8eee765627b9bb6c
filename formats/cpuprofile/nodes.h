// The nodes of a .cpuprofile: read from either layout into one table, linked and ordered.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/model/profile_builder.h"
#include "core/support/growing_vector.h"
#include "formats/reader.h"
#include "formats/support/json_cursor.h"

namespace profd::cpuprofile {

// Hits of one line inside a node's function. Ticks of one node stand side by side.
struct LineTicks {
  std::uint32_t line = 0;   // 1-based
  std::uint64_t until = 0;  // running sum of the node's ticks, this line's included
};

// Struct-of-arrays by node number, in the order of the file.
struct NodeTable {
  GrowingVector<std::int64_t> id;
  GrowingVector<std::uint32_t> parent;  // node number; kNone: child of the root, or the root itself
  GrowingVector<FunctionId> function;   // none: the (root) of the file
  GrowingVector<FrameKind> kind;
  GrowingVector<std::int64_t> hits;
  BigVector<std::uint32_t> order;  // every node after its parent
  BigVector<std::uint8_t> is_inner;
  std::vector<LineTicks> ticks;
  BigVector<std::uint64_t> first_tick;  // into `ticks`; one more entry than nodes, or empty: no ticks

  std::size_t size() const { return id.size(); }
  std::pair<std::uint64_t, std::uint64_t> ticks_of(std::uint32_t node) const {
    if (first_tick.empty()) return {0, 0};
    return {first_tick[node], first_tick[node + 1]};
  }
  std::uint64_t n_ticks(std::uint32_t node) const {
    const auto [first, last] = ticks_of(node);
    return first == last ? 0 : ticks[last - 1].until;
  }
};

// Node number by the file's id.
class NodeIndex {
 public:
  // False when an id occurs twice; `twice` is then its second node.
  bool build(const GrowingVector<std::int64_t>& ids, std::uint32_t& twice);
  std::uint32_t find(std::int64_t id) const {
    if (id >= 0 && static_cast<std::uint64_t>(id) < dense_.size())
      return dense_[static_cast<std::size_t>(id)];
    if (sparse_.empty()) return kNone;
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? kNone : found->second;
  }

 private:
  BigVector<std::uint32_t> dense_;
  std::unordered_map<std::int64_t, std::uint32_t> sparse_;
};

struct Nodes {
  NodeTable table;
  NodeIndex index;
};

// At the value of "nodes" (an array of nodes, linked by `children` or by `parent`) or of "head" (a tree of
// nested objects). Functions are interned in `builder`.
Result<Nodes> read_node_array(JsonCursor& in, ReadContext& context, ProfileBuilder& builder);
Result<Nodes> read_head_tree(JsonCursor& in, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::cpuprofile
