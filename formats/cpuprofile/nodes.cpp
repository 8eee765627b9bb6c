#include "formats/cpuprofile/nodes.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "formats/support/file_url.h"

namespace profd::cpuprofile {
namespace {

// One node while its object is read. Lines and columns are as written.
struct OpenNode {
  std::uint32_t row = 0;
  StringId name{0u}, url{0u};
  std::int64_t line = -1, column = -1, script = 0;
  std::uint64_t begin = 0;
  bool has_id = false;
};

struct Link {
  std::int64_t id = 0;
  std::uint32_t row = 0;
};

// Reads the members of nodes; the two layouts differ in how nodes nest.
class NodeReader {
 public:
  NodeReader(JsonCursor& in, ReadContext& context, ProfileBuilder& builder)
      : in_(in), context_(context), builder_(builder) {}

  OpenNode open() {
    OpenNode node;
    node.row = static_cast<std::uint32_t>(table_.id.size());
    node.begin = in_.offset();
    table_.id.push_back(0);
    table_.parent.push_back(kNone);
    table_.function.push_back({});
    table_.kind.push_back(FrameKind::native);
    table_.hits.push_back(0);
    offsets_.push_back(node.begin);
    in_.begin_object();
    return node;
  }

  // A member that is no link to another node.
  void member(OpenNode& node, std::string_view key) {
    if (key == "id") {
      table_.id[node.row] = in_.integer();
      node.has_id = true;
    } else if (key == "hitCount") {
      read_hits(node.row);
    } else if (key == "positionTicks" && in_.kind() == JsonKind::array) {
      read_ticks(node.row);
    } else if (key == "callFrame") {
      for (in_.begin_object(); in_.next_key(key);) frame_member(node, key);
    } else {
      frame_member(node, key);
    }
  }

  void close(const OpenNode& node, bool zero_based) {
    if (!in_.ok()) return;
    if (!node.has_id) return in_.fail_at(node.begin, ErrorCode::malformed, "the node has no id");
    const std::string_view name = builder_.text(node.name);
    if (name == "(root)") return;
    FunctionSpec function;
    function.name = name.empty() ? builder_.string("(anonymous)") : node.name;
    function.file = node.url;
    const std::int64_t line = zero_based && node.line >= 0 ? node.line + 1 : node.line;
    if (line > 0 && line < kNone) function.start_line = static_cast<std::uint32_t>(line);
    const std::int64_t column = zero_based && node.column >= 0 ? node.column + 1 : node.column;
    if (function.start_line != 0 && column > 0 && column < kNone)
      function.start_column = static_cast<std::uint32_t>(column);
    const bool script = node.url.v != 0 || node.script != 0;
    table_.kind[node.row] = name == "(garbage collector)" ? FrameKind::gc
                            : script                      ? FrameKind::jit
                                                          : FrameKind::native;
    table_.function[node.row] = builder_.function(function);
  }

  NodeTable& table() { return table_; }
  // From a parent to the id of its child, and the other way round.
  GrowingVector<Link>& links_down() { return links_down_; }
  GrowingVector<Link>& links_up() { return links_up_; }

  bool stopped(std::uint32_t row) {
    if ((row & 4095u) != 0) return false;
    if (context_.progress) context_.progress(in_.offset(), 0);
    return context_.stop.stop_requested();
  }

  Result<Nodes> link(std::string_view layout);

 private:
  void frame_member(OpenNode& node, std::string_view key) {
    const JsonKind kind = in_.kind();
    if (key == "functionName" && kind == JsonKind::string) {
      node.name = builder_.string(in_.string());
    } else if (key == "url" && kind == JsonKind::string) {
      const std::string_view url = in_.string();
      node.url = url.starts_with("file:") ? builder_.string(path_from_file_url(url)) : builder_.string(url);
    } else if (key == "lineNumber" && kind == JsonKind::number) {
      node.line = in_.integer();
    } else if (key == "columnNumber" && kind == JsonKind::number) {
      node.column = in_.integer();
    } else if (key == "scriptId") {
      if (kind == JsonKind::string)
        node.script = in_.string() == "0" ? 0 : 1;
      else
        in_.skip();
    } else {
      in_.skip();
    }
  }

  void read_hits(std::uint32_t row) {
    const std::uint64_t at = in_.offset();
    const std::int64_t hits = in_.integer();
    if (hits < 0) return in_.fail_at(at, ErrorCode::malformed, "hitCount is negative");
    table_.hits[row] = hits;
  }

  // Of the node in hand, or of its head-layout ancestor: `ticks_of_` keeps whose they are.
  void read_ticks(std::uint32_t row) {
    std::string_view key;
    for (in_.begin_array(); in_.next_element();) {
      const std::uint64_t at = in_.offset();
      std::int64_t line = 0, ticks = 0;
      for (in_.begin_object(); in_.next_key(key);) {
        if (key == "line")
          line = in_.integer();
        else if (key == "ticks")
          ticks = in_.integer();
        else
          in_.skip();
      }
      if (line < 0 || line >= kNone || ticks < 0 || ticks > std::numeric_limits<std::uint32_t>::max())
        return in_.fail_at(at, ErrorCode::malformed, "a position tick is out of range");
      if (ticks > 0)
        ticks_.push_back({row, static_cast<std::uint32_t>(line), static_cast<std::uint64_t>(ticks)});
    }
  }

  struct Tick {
    std::uint32_t node, line;
    std::uint64_t ticks;
  };

  Result<void> link_parents(const NodeIndex& index);
  Result<void> order_nodes(std::string_view layout);
  void sort_ticks();

  JsonCursor& in_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  NodeTable table_;
  GrowingVector<std::uint64_t> offsets_;
  std::vector<Tick> ticks_;
  GrowingVector<Link> links_down_, links_up_;
};

Result<void> NodeReader::link_parents(const NodeIndex& index) {
  const auto attach = [&](std::uint32_t child, std::uint32_t parent) -> Result<void> {
    std::uint32_t& slot = table_.parent[child];
    if (slot != kNone && slot != parent)
      return fail(ErrorCode::malformed,
                  fmt::format("node {} has two parents, {} and {}", table_.id[child], table_.id[slot],
                              table_.id[parent]),
                  offsets_[child]);
    slot = parent;
    return {};
  };
  for (const auto& [child_id, parent] : links_down_) {
    const std::uint32_t child = index.find(child_id);
    if (child == kNone)
      return fail(ErrorCode::malformed,
                  fmt::format("node {} has a child {} that is not in the file", table_.id[parent], child_id),
                  offsets_[parent]);
    PROFD_CHECK(attach(child, parent));
  }
  for (const auto& [parent_id, child] : links_up_) {
    const std::uint32_t parent = index.find(parent_id);
    if (parent == kNone)
      return fail(ErrorCode::malformed,
                  fmt::format("node {} has a parent {} that is not in the file", table_.id[child], parent_id),
                  offsets_[child]);
    PROFD_CHECK(attach(child, parent));
  }
  links_down_ = {};
  links_up_ = {};
  return {};
}

// Parents first, from the nodes without one; what is not reached hangs on a cycle.
Result<void> NodeReader::order_nodes(std::string_view layout) {
  const auto n = static_cast<std::uint32_t>(table_.size());
  BigVector<std::uint32_t> first(n + 1, 0), children(n);
  table_.is_inner.assign(n, 0);
  table_.order.reserve(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (table_.parent[i] == kNone) {
      table_.order.push_back(i);
    } else {
      ++first[table_.parent[i] + 1];
      table_.is_inner[table_.parent[i]] = 1;
    }
  }
  // Children of i stand at [first[i], first[i + 1]); once they are there, at [first[i - 1], first[i]).
  for (std::uint32_t i = 0; i < n; ++i) first[i + 1] += first[i];
  for (std::uint32_t i = 0; i < n; ++i) {
    if (table_.parent[i] != kNone) children[first[table_.parent[i]]++] = i;
  }
  for (std::size_t done = 0; done < table_.order.size(); ++done) {
    const std::uint32_t node = table_.order[done];
    table_.order.insert(table_.order.end(), children.begin() + (node == 0 ? 0 : first[node - 1]),
                        children.begin() + first[node]);
  }
  if (table_.order.size() == n) return {};
  std::vector<bool> reached(n, false);
  for (const std::uint32_t node : table_.order) reached[node] = true;
  const auto lost =
      static_cast<std::size_t>(std::find(reached.begin(), reached.end(), false) - reached.begin());
  return tl::unexpected<Error>(Error{
      ErrorCode::malformed,
      fmt::format("node {} is its own ancestor", table_.id[lost]),
      offsets_[lost],
      {}}.in(fmt::format("{}[{}]", layout, lost)));
}

void NodeReader::sort_ticks() {
  if (ticks_.empty()) return;
  std::stable_sort(ticks_.begin(), ticks_.end(),
                   [](const Tick& a, const Tick& b) { return a.node < b.node; });
  table_.first_tick.assign(table_.size() + 1, 0);
  table_.ticks.reserve(ticks_.size());
  std::size_t at = 0;
  for (std::uint32_t node = 0; node < table_.size(); ++node) {
    table_.first_tick[node] = table_.ticks.size();
    std::uint64_t sum = 0;
    for (; at < ticks_.size() && ticks_[at].node == node; ++at) {
      sum += ticks_[at].ticks;
      table_.ticks.push_back({ticks_[at].line, sum});
    }
  }
  table_.first_tick.back() = table_.ticks.size();
  ticks_ = {};
}

Result<Nodes> NodeReader::link(std::string_view layout) {
  Nodes out;
  std::uint32_t twice = kNone;
  if (!out.index.build(table_.id, twice))
    return fail(ErrorCode::malformed, fmt::format("node id {} occurs twice", table_.id[twice]),
                offsets_[twice]);
  PROFD_CHECK(link_parents(out.index));
  PROFD_CHECK(order_nodes(layout));
  sort_ticks();
  std::uint64_t n_orphans = 0, first_orphan = 0;
  for (std::uint32_t i = 0; i < table_.size(); ++i) {
    if (table_.parent[i] != kNone || !table_.function[i].valid() || i == 0) continue;
    if (n_orphans++ == 0) first_orphan = offsets_[i];
  }
  if (n_orphans > 0)
    context_.report.add("orphan-node", Severity::loss,
                        "Nodes without a parent were put under the root; their callers are not in the file.",
                        first_orphan, n_orphans);
  out.table = std::move(table_);
  return out;
}

void read_child_ids(JsonCursor& in, std::uint32_t row, GrowingVector<Link>& links) {
  for (in.begin_array(); in.next_element();) links.push_back({in.integer(), row});
}

tl::unexpected<Error> failure_in_node(const JsonCursor& in, std::string_view layout, std::size_t row) {
  Error error = in.status().error();
  return tl::unexpected<Error>(std::move(error).in(fmt::format("{}[{}]", layout, row)));
}

}  // namespace

bool NodeIndex::build(const GrowingVector<std::int64_t>& ids, std::uint32_t& twice) {
  dense_.clear();
  sparse_.clear();
  const auto limit = static_cast<std::int64_t>(ids.size() * 4 + 1024);
  const bool dense =
      std::all_of(ids.begin(), ids.end(), [&](std::int64_t id) { return id >= 0 && id < limit; });
  if (dense && !ids.empty())
    dense_.assign(static_cast<std::size_t>(*std::max_element(ids.begin(), ids.end())) + 1, kNone);
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    if (dense) {
      std::uint32_t& slot = dense_[static_cast<std::size_t>(ids[i])];
      if (slot != kNone) {
        twice = i;
        return false;
      }
      slot = i;
    } else if (!sparse_.try_emplace(ids[i], i).second) {
      twice = i;
      return false;
    }
  }
  return true;
}

Result<Nodes> read_node_array(JsonCursor& in, ReadContext& context, ProfileBuilder& builder) {
  NodeReader reader(in, context, builder);
  std::string_view key;
  std::size_t row = 0;
  for (in.begin_array(); in.next_element(); ++row) {
    if (row >= kNone - 1) return fail(ErrorCode::limit, "the file has more than 4,294,967,294 nodes");
    OpenNode node = reader.open();
    while (in.next_key(key)) {
      if (key == "children" && in.kind() == JsonKind::array)
        read_child_ids(in, node.row, reader.links_down());
      else if (key == "parent" && in.kind() == JsonKind::number)
        reader.links_up().push_back({in.integer(), node.row});
      else
        reader.member(node, key);
    }
    reader.close(node, true);
    if (!in.ok()) return failure_in_node(in, "nodes", row);
    if (reader.stopped(node.row)) return fail(ErrorCode::cancelled, "cancelled");
  }
  if (!in.ok()) return failure_in_node(in, "nodes", row);
  return reader.link("nodes");
}

Result<Nodes> read_head_tree(JsonCursor& in, ReadContext& context, ProfileBuilder& builder) {
  NodeReader reader(in, context, builder);
  std::string_view key;
  // Path of open objects; a flag says whether the cursor stands in the children of the last one.
  std::vector<OpenNode> path{reader.open()};
  std::vector<OpenNode> closed;  // frames wait until the root's line tells how lines are counted
  bool in_children = false;
  while (!path.empty() && in.ok()) {
    if (in_children) {
      in_children = in.next_element();
      if (!in_children) continue;
      const std::uint32_t parent = path.back().row;
      path.push_back(reader.open());
      reader.table().parent[path.back().row] = parent;
      in_children = false;
      if (reader.stopped(path.back().row)) return fail(ErrorCode::cancelled, "cancelled");
    } else if (in.next_key(key)) {
      if (key == "children" && in.kind() == JsonKind::array)
        in_children = in.begin_array();
      else
        reader.member(path.back(), key);
    } else if (in.ok()) {
      closed.push_back(path.back());
      path.pop_back();
      in_children = !path.empty();
    }
  }
  if (!in.ok()) return failure_in_node(in, "head, node", path.empty() ? 0 : path.back().row);
  // V8's own export counts lines from 1 and writes 0 for the root; converted files count from 0 and write -1.
  const bool zero_based = closed.back().line < 0;
  for (const OpenNode& node : closed) {
    reader.close(node, zero_based);
    if (!in.ok()) return failure_in_node(in, "head, node", node.row);
  }
  return reader.link("head");
}

}  // namespace profd::cpuprofile
