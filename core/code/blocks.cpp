#include "core/code/blocks.h"

#include "core/code/loop_depth.h"

namespace profd {
namespace {

bool is_direct_jump(InstructionKind kind) {
  return kind == InstructionKind::jump || kind == InstructionKind::conditional_jump;
}

std::vector<std::uint32_t> first_rows(const CodeRows& rows, std::span<const std::uint32_t> target_rows) {
  std::vector<std::uint8_t> begins(rows.size(), 0);
  if (!begins.empty()) begins[0] = 1;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const InstructionKind kind = rows.kind[row];
    if (is_direct_jump(kind) && target_rows[row] != kNone) begins[target_rows[row]] = 1;
    const bool ends = ends_flow(kind) || kind == InstructionKind::conditional_jump;
    if (ends && row + 1 < rows.size()) begins[row + 1] = 1;
  }
  std::vector<std::uint32_t> first;
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    if (begins[row] != 0) first.push_back(row);
  }
  return first;
}

// Nodes of the graph: the entry, all that indirect jumps may be, then the blocks.
constexpr std::uint32_t kEntry = 0, kIndirect = 1, kFirstBlock = 2;

class Graph {
 public:
  explicit Graph(std::uint32_t n_blocks)
      : n_nodes_(kFirstBlock + n_blocks), next_(n_nodes_), n_before_(n_nodes_, 0), reached_(n_nodes_, 0) {}

  void add(std::uint32_t from, std::uint32_t to) {
    next_[from].push_back(to);
    ++n_before_[to];
  }

  // Gives every block a way in.
  void connect() {
    reach(kEntry);
    for (const bool alone : {true, false}) {
      for (std::uint32_t node = kFirstBlock; node < n_nodes_; ++node) {
        if (reached_[node] != 0 || (alone && n_before_[node] != 0)) continue;
        add(reached_[kIndirect] != 0 ? kIndirect : kEntry, node);
        reach(node);
      }
    }
  }

  std::vector<std::uint32_t> depths_of_blocks() const {
    std::vector<Edge> edges;
    for (std::uint32_t from = 0; from < n_nodes_; ++from) {
      for (const std::uint32_t to : next_[from]) edges.emplace_back(from, to);
    }
    std::vector<std::uint32_t> depth = loop_depths(n_nodes_, edges);
    depth.erase(depth.begin(), depth.begin() + kFirstBlock);
    return depth;
  }

 private:
  void reach(std::uint32_t node) {
    reached_[node] = 1;
    std::vector<std::uint32_t> open{node};
    while (!open.empty()) {
      const std::uint32_t from = open.back();
      open.pop_back();
      for (const std::uint32_t to : next_[from]) {
        if (reached_[to] != 0) continue;
        reached_[to] = 1;
        open.push_back(to);
      }
    }
  }

  std::uint32_t n_nodes_;
  std::vector<std::vector<std::uint32_t>> next_;
  std::vector<std::uint32_t> n_before_;
  std::vector<std::uint8_t> reached_;
};

}  // namespace

Blocks basic_blocks(const CodeRows& rows, std::span<const std::uint32_t> target_rows) {
  Blocks blocks;
  blocks.first = first_rows(rows, target_rows);
  const auto n = static_cast<std::uint32_t>(blocks.size());
  if (n == 0) return blocks;
  std::vector<std::uint32_t> block_of(rows.size(), kNone);  // of first rows
  for (std::uint32_t b = 0; b < n; ++b) block_of[blocks.first[b]] = b;
  Graph graph(n);
  graph.add(kEntry, kFirstBlock);
  for (std::uint32_t b = 0; b < n; ++b) {
    const std::size_t last = (b + 1 < n ? blocks.first[b + 1] : rows.size()) - 1;
    const InstructionKind kind = rows.kind[last];
    if (is_direct_jump(kind) && target_rows[last] != kNone) {
      graph.add(kFirstBlock + b, kFirstBlock + block_of[target_rows[last]]);
    }
    if (kind == InstructionKind::indirect_jump) graph.add(kFirstBlock + b, kIndirect);
    if (!ends_flow(kind) && b + 1 < n) graph.add(kFirstBlock + b, kFirstBlock + b + 1);
  }
  graph.connect();
  blocks.loop_depth = graph.depths_of_blocks();
  return blocks;
}

}  // namespace profd
