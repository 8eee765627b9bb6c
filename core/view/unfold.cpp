#include "core/view/unfold.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <span>

#include "core/view/box_children.h"
#include "core/view/call_paths.h"
#include "core/view/divided_tree.h"
#include "core/view/last_occurrences.h"
#include "core/view/match_marks.h"
#include "core/view/occurrences.h"
#include "core/view/selection.h"
#include "core/view/sweep.h"

namespace profd {
namespace {

constexpr std::uint32_t kRowsBlock = kNone - 1;  // the root of bottom-up: its cursors are the self rows
// Longer lists get memory of their own, given back when the node is expanded.
constexpr std::size_t kOwnBlock = 4096;
// Cursors are far apart in the columns of the tree; what is needed for one so many further on is fetched
// early.
constexpr std::size_t kAhead = 16;
constexpr std::size_t kMaxMatched = std::size_t{1} << 20;  // nodes; with more they are found anew
constexpr std::size_t kManyNodes = 1024;  // looked at together: what they need fits the cache
constexpr std::size_t kMuchBelow = 4096;  // contexts, likewise

}  // namespace

template <class T>
struct UnfoldedTree<T>::Source {
  ProfilePtr profile;
  std::shared_ptr<const KeyTable> keys;
  Column<std::uint32_t> owner;
  Column<T> totals, widths;
  bool negative = false, saturated = false;
  bool down = true;
  // Bottom-up: the rows.
  Column<std::uint32_t> row_contexts;
  Column<T> row_values;
  // Callees of a fragment that occurs below itself.
  LastOccurrences<T> last;
  // Sums over the contexts are estimates.
  bool estimated = false;
  Shape shape = Shape::top_down;

  const ContextTree& tree() const { return profile->tree(); }
  std::uint32_t owner_of(std::uint32_t c) const { return owner.empty() ? c : owner[c]; }
  Key key_of(std::uint32_t c) const { return keys->of_frame[tree().frame[c]]; }

  std::pair<T, T> weight(std::uint32_t c) const { return last.weight(tree(), totals, widths, saturated, c); }
};

template <class T>
struct UnfoldedTree<T>::Block {
  std::vector<std::uint32_t> context;
  std::vector<T> value, width;  // upwards only; width only where values may be negative
  std::uint32_t n_users = 0;
  std::size_t bytes() const {
    return sizeof(Block) + context.capacity() * sizeof(std::uint32_t) +
           (value.capacity() + width.capacity()) * sizeof(T);
  }
};

// Cursors on their way to the children of one node. Used again for the next node: most have a child or two,
// and taking memory for them anew would take as long as finding them.
template <class T>
struct UnfoldedTree<T>::Groups {
  struct Group {
    Key key;
    std::uint32_t first_context, last_context;
    std::uint32_t n = 0;
    T total{}, width{};
  };
  std::vector<Group> groups;
  std::vector<std::uint32_t> context, group;  // one entry a cursor
  std::vector<T> value, width;                // as in Block
  T self{};
  // By group, for adopt().
  std::vector<std::uint32_t> order;
  std::vector<std::uint64_t> start, fill;
  std::vector<Block*> block_of;

  void give_back_much() {
    constexpr std::size_t kKept = 1u << 16;
    if (context.capacity() > kKept) *this = Groups();
  }
  void clear() {
    groups.clear();
    context.clear();
    group.clear();
    value.clear();
    width.clear();
    self = T{};
  }
  void clear_keys(std::vector<std::uint32_t>& group_of_key) const {
    for (const Group& g : groups) group_of_key[g.key] = kNone;
  }
  void add_cursor(Key key, std::uint32_t c, T total_part, T width_part, bool saturated,
                  std::vector<std::uint32_t>& group_of_key) {
    std::uint32_t& g = group_of_key[key];
    if (g == kNone) {
      g = static_cast<std::uint32_t>(groups.size());
      groups.push_back({key, c, kNone, 0, T{}, T{}});
    }
    Group& to = groups[g];
    to.total = profd::add(to.total, total_part, saturated);
    to.width = profd::add(to.width, width_part, saturated);
    if (to.last_context != c) ++to.n;
    to.last_context = c;
    context.push_back(c);
    group.push_back(g);
  }
};

template <class T>
UnfoldedTree<T>::UnfoldedTree(std::unique_ptr<Source> source)
    : source_(std::move(source)), groups_(std::make_unique<Groups>()) {
  group_of_key_.assign(source_->keys->n_keys(), kNone);
}

template <class T>
UnfoldedTree<T>::~UnfoldedTree() = default;

template <class T>
const KeyTable& UnfoldedTree<T>::keys() const {
  return *source_->keys;
}
template <class T>
const Profile& UnfoldedTree<T>::profile() const {
  return *source_->profile;
}
template <class T>
bool UnfoldedTree<T>::estimated() const {
  return source_->estimated;
}
template <class T>
bool UnfoldedTree<T>::divided() const {
  return divided_ != nullptr;
}
template <class T>
bool UnfoldedTree<T>::saturated() const {
  return source_->saturated;
}

template <class T>
std::size_t UnfoldedTree<T>::memory() const {
  const std::size_t bytes = nodes_.capacity() * sizeof(Node) + group_of_key_.size() * sizeof(std::uint32_t) +
                            (divided_ ? divided_->memory() : 0) + source_->last.memory() +
                            matched_.size() * (sizeof(Matching) + 4 * sizeof(void*));
  return bytes + blocks_.capacity() * sizeof(blocks_[0]) + block_bytes_;
}

template <class T>
Result<std::unique_ptr<UnfoldedTree<T>>> UnfoldedTree<T>::make(const Selection& selection, Shape shape,
                                                               const std::vector<Key>& focus,
                                                               StopToken& stop) {
  if (shape == Shape::flat) return fail(ErrorCode::invalid, "a flat view is a table, not a tree");
  auto source = std::make_unique<Source>();
  source->profile = selection.profile;
  source->keys = selection.boxes->keys;
  source->owner = selection.boxes->owner;
  source->totals = std::get<Column<T>>(selection.sums->totals);
  source->widths = std::get<Column<T>>(selection.sums->widths);
  source->negative = selection.sums->negative;
  source->saturated = selection.sums->saturated;
  source->down = shape == Shape::top_down || shape == Shape::callees;
  source->estimated = selection.estimated;
  source->shape = shape;
  if (CallPaths<T>::answers(selection, shape, focus)) {
    auto tree = std::unique_ptr<UnfoldedTree>(new UnfoldedTree(std::move(source)));
    tree->divided_ = std::make_unique<DividedTree<T>>(selection, shape, focus);
    tree->nodes_.push_back(tree->divided_->root());
    return tree;
  }
  Node root;
  // Exact is the whole, and what bottom-up begins with: self values.
  if (selection.estimated && shape != Shape::top_down && shape != Shape::bottom_up)
    root.estimate = shape == Shape::callees ? kTotalEstimated : kBothEstimated;
  auto block = std::make_unique<Block>();
  block->n_users = 1;
  const auto count = [&](T total, T width) {
    root.total = add(root.total, total, selection.sums->saturated);
    root.width = add(root.width, width, selection.sums->saturated);
  };
  if (shape == Shape::top_down || shape == Shape::bottom_up) {
    count(source->totals[0], source->widths[0]);
    block->context.push_back(0);
    if (shape == Shape::bottom_up) {
      source->row_contexts = selection.rows->self.contexts;
      source->row_values = std::get<Column<T>>(selection.rows->self.values[selection.metric().v]);
      root.block = kRowsBlock;
    }
  } else {
    PROFD_TRY(std::vector<std::uint32_t> found, find_occurrences(selection, focus, stop));
    const ContextTree& tree = selection.profile->tree();
    bool nested = false;
    std::uint32_t until = 0;
    std::vector<std::uint32_t> first;
    for (std::uint32_t c : found) {
      nested = nested || c < until;
      if (c < until) continue;
      until = tree.subtree_end[c];
      first.push_back(c);
    }
    if (shape == Shape::callees) {
      if (nested) source->last.take(found, tree, source->totals, source->widths, source->saturated);
      for (std::uint32_t c : found) {
        const auto [total, width] = source->weight(c);
        if (width == 0) continue;
        count(total, width);
        block->context.push_back(c);
      }
    } else {
      for (std::uint32_t c : first) {
        count(source->totals[c], source->widths[c]);
        std::uint32_t from = c;
        for (std::size_t i = 1; i < focus.size(); ++i) from = source->owner_of(tree.parent[from]);
        block->context.push_back(from);
        block->value.push_back(source->totals[c]);
        if (source->negative) block->width.push_back(source->widths[c]);
      }
    }
  }
  auto tree = std::unique_ptr<UnfoldedTree>(new UnfoldedTree(std::move(source)));
  root.n_cursors = static_cast<std::uint32_t>(block->context.size());
  if (root.block != kRowsBlock) {
    root.block = 0;
    if (root.n_cursors > 0 && block->context[0] != 0)
      root.frame = selection.profile->tree().frame[block->context[0]];
    tree->block_bytes_ = block->bytes();
    tree->blocks_.push_back(std::move(block));
  }
  tree->nodes_.push_back(root);
  return tree;
}

template <class T>
Result<void> UnfoldedTree<T>::group_children(const Node& node, Groups& groups, StopToken& stop) {
  const Source& s = *source_;
  const ContextTree& tree = s.tree();
  const Block& block = *blocks_[node.block];
  T below{};
  for (std::uint32_t i = 0; i < node.n_cursors; ++i) {
    if (i + kAhead < node.n_cursors) {
      const std::uint32_t soon = block.context[node.offset + i + kAhead];
      __builtin_prefetch(tree.subtree_end.data() + soon);
      __builtin_prefetch(tree.frame.data() + soon + 1);
      __builtin_prefetch(s.widths.data() + soon + 1);
    }
    const std::uint32_t from = block.context[node.offset + i];
    const bool all = for_each_child_box(
        tree, s.owner, from, stop, [&](std::uint32_t c) { return s.widths[c] == 0; },
        [&](std::uint32_t child) {
          if (s.last.contains(child)) return;
          const auto [total, width] = s.weight(child);
          if (width == 0) return;
          below = add(below, total, s.saturated);
          groups.add_cursor(s.key_of(child), child, total, width, s.saturated, group_of_key_);
        });
    if (!all) return fail(ErrorCode::cancelled, "cancelled");
  }
  groups.self = without_dust(subtract(node.total, below, s.saturated), node.width);
  return {};
}

template <class T>
Result<void> UnfoldedTree<T>::group_callers(const Node& node, Groups& groups, StopToken& stop) {
  const Source& s = *source_;
  const Block& block = *blocks_[node.block];
  const ContextTree& tree = s.tree();
  const std::uint64_t end = node.offset + node.n_cursors;
  for (std::uint64_t i = node.offset; i < end; ++i) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (i + 2 * kAhead < end) {
      __builtin_prefetch(tree.parent.data() + block.context[i + 2 * kAhead]);
      const std::uint32_t soon = tree.parent[block.context[i + kAhead]];
      __builtin_prefetch(tree.frame.data() + (soon == kNone ? 0 : soon));
    }
    const T value = block.value[i];
    const T width = s.negative ? block.width[i] : value;
    const std::uint32_t caller = s.owner_of(tree.parent[block.context[i]]);
    if (caller == 0) {
      groups.self = add(groups.self, value, s.saturated);
      continue;
    }
    groups.add_cursor(s.key_of(caller), caller, value, width, s.saturated, group_of_key_);
    groups.value.push_back(value);
    if (s.negative) groups.width.push_back(width);
  }
  return {};
}

template <class T>
Result<void> UnfoldedTree<T>::group_rows(Groups& groups, StopToken& stop) {
  const Source& s = *source_;
  for (std::size_t row = 0; row < s.row_contexts.size();) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t context = s.row_contexts[row];
    if (row + kAhead < s.row_contexts.size())
      __builtin_prefetch(s.tree().frame.data() + s.row_contexts[row + kAhead]);
    T value = finite(s.row_values[row]);
    for (++row; row < s.row_contexts.size() && s.row_contexts[row] == context; ++row)
      value = add(value, finite(s.row_values[row]), s.saturated);
    if (value == 0) continue;
    const std::uint32_t leaf = s.owner_of(context);
    if (leaf == 0) {
      groups.self = add(groups.self, value, s.saturated);
      continue;
    }
    const T width = s.negative ? magnitude(value) : value;
    groups.add_cursor(s.key_of(leaf), leaf, value, width, s.saturated, group_of_key_);
    groups.value.push_back(value);
    if (s.negative) groups.width.push_back(width);
  }
  return {};
}

template <class T>
void UnfoldedTree<T>::adopt(std::uint32_t id, Groups& groups) {
  const std::size_t n_groups = groups.groups.size();
  const std::vector<std::uint32_t>& rank = source_->keys->name_rank;
  std::vector<std::uint32_t>& order = groups.order;
  order.resize(n_groups);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return rank[groups.groups[a].key] < rank[groups.groups[b].key];
  });

  const bool has_values = !groups.value.empty(), has_widths = !groups.width.empty();
  const auto new_block = [&](std::size_t n) {
    auto block = std::make_unique<Block>();
    block->context.resize(n);
    if (has_values) block->value.resize(n);
    if (has_widths) block->width.resize(n);
    block_bytes_ += block->bytes();
    blocks_.push_back(std::move(block));
    return static_cast<std::uint32_t>(blocks_.size() - 1);
  };
  std::size_t n_shared = 0;
  for (const auto& g : groups.groups) n_shared += g.n < kOwnBlock ? g.n : 0;
  const std::uint32_t shared = n_shared > 0 ? new_block(n_shared) : kNone;

  const auto first = static_cast<std::uint32_t>(nodes_.size());
  std::vector<std::uint64_t>&start = groups.start, &fill = groups.fill;
  std::vector<Block*>& block_of = groups.block_of;
  start.resize(n_groups);
  fill.resize(n_groups);
  block_of.resize(n_groups);
  std::uint64_t shared_used = 0;
  for (std::uint32_t g : order) {
    const auto& group = groups.groups[g];
    Node child;
    child.parent = id;
    child.key = group.key;
    child.frame = source_->tree().frame[group.first_context];
    child.n_cursors = group.n;
    child.width = group.width;
    child.total = group.total;
    if (source_->estimated)
      child.estimate = id == 0 && source_->shape == Shape::bottom_up ? kSelfEstimated : kBothEstimated;
    if (group.n < kOwnBlock) {
      child.block = shared;
      child.offset = shared_used;
      shared_used += group.n;
    } else {
      child.block = new_block(group.n);
    }
    ++blocks_[child.block]->n_users;
    start[g] = fill[g] = child.offset;
    block_of[g] = blocks_[child.block].get();
    nodes_.push_back(child);
  }
  for (std::size_t i = 0; i < groups.context.size(); ++i) {
    const std::uint32_t g = groups.group[i];
    const std::uint32_t c = groups.context[i];
    Block& block = *block_of[g];
    const std::uint64_t at = fill[g];
    if (at > start[g] && block.context[at - 1] == c) {  // stacks that meet in one context go on as one
      if (has_values) block.value[at - 1] = add(block.value[at - 1], groups.value[i], source_->saturated);
      if (has_widths) block.width[at - 1] = add(block.width[at - 1], groups.width[i], source_->saturated);
      continue;
    }
    block.context[at] = c;
    if (has_values) block.value[at] = groups.value[i];
    if (has_widths) block.width[at] = groups.width[i];
    ++fill[g];
  }
  release(nodes_[id]);
  Node& node = nodes_[id];
  node.first_child = first;
  node.n_children = static_cast<std::uint32_t>(n_groups);
  node.self = groups.self;
  node.expanded = true;
  node.n_cursors = 0;
}

template <class T>
void UnfoldedTree<T>::release(const Node& node) {
  if (node.block == kRowsBlock) {
    source_->row_contexts = {};
    source_->row_values = {};
    return;
  }
  auto& block = blocks_[node.block];
  if (--block->n_users > 0) return;
  block_bytes_ -= block->bytes();
  block.reset();
}

template <class T>
Result<void> UnfoldedTree<T>::expand(std::uint32_t id, StopToken& stop) {
  const Node node = nodes_[id];
  if (node.expanded) return {};
  PROFD_CHECK(stop.status());
  if (divided_) {
    if (nodes_.size() + source_->keys->n_keys() >= kRowsBlock)
      return fail(ErrorCode::limit, "the view has more than four billion boxes");
    divided_->expand(nodes_, id);
    return {};
  }
  Groups& groups = *groups_;
  groups.clear();
  if (node.block == kRowsBlock || !source_->down) {
    const std::size_t n = node.block == kRowsBlock ? source_->row_contexts.size() : node.n_cursors;
    groups.context.reserve(n);
    groups.group.reserve(n);
    groups.value.reserve(n);
    if (source_->negative) groups.width.reserve(n);
  }
  Result<void> done = node.block == kRowsBlock ? group_rows(groups, stop)
                      : source_->down          ? group_children(node, groups, stop)
                                               : group_callers(node, groups, stop);
  groups.clear_keys(group_of_key_);
  PROFD_CHECK(std::move(done));
  if (nodes_.size() + groups.groups.size() >= kRowsBlock)
    return fail(ErrorCode::limit, "the view has more than four billion boxes");
  adopt(id, groups);
  groups.give_back_much();
  return {};
}

template <class T>
Result<std::uint32_t> UnfoldedTree<T>::find(const std::vector<Key>& path, StopToken& stop) {
  std::uint32_t at = 0;
  for (Key key : path) {
    if (key >= source_->keys->n_keys())
      return fail(ErrorCode::not_found, "the path names a key the profile does not have");
    PROFD_TRY(at, child(at, key, stop));
    if (at == kNone) return fail(ErrorCode::not_found, "the view has no box at this path");
  }
  return at;
}

template <class T>
Result<std::uint32_t> UnfoldedTree<T>::child(std::uint32_t id, Key key, StopToken& stop) {
  PROFD_CHECK(expand(id, stop));
  const std::vector<std::uint32_t>& rank = source_->keys->name_rank;
  const auto begin = nodes_.begin() + nodes_[id].first_child;
  const auto end = begin + nodes_[id].n_children;
  const auto found = std::lower_bound(begin, end, rank[key],
                                      [&](const Node& node, std::uint32_t r) { return rank[node.key] < r; });
  if (found == end || found->key != key) return kNone;
  return static_cast<std::uint32_t>(found - nodes_.begin());
}

// Matches below the contexts of a node that is not one itself, the outermost of each stack. Both of these
// return false when visit() does, or stopped.
template <class T>
template <class Visit>
bool UnfoldedTree<T>::visit_matches_below(const Node& node, const MatchMarks& marks, StopToken& stop,
                                          Visit visit) {
  const Source& s = *source_;
  const ContextTree& tree = s.tree();
  const Block& block = *blocks_[node.block];
  for (std::uint32_t i = 0; i < node.n_cursors; ++i) {
    const std::uint32_t from = block.context[node.offset + i];
    const std::uint32_t end = tree.subtree_end[from];
    for (std::uint32_t c = from + 1; c < end; c = tree.subtree_end[c]) {
      if (stop.check()) return false;
      const std::uint32_t match = marks.next(c, end);
      // What lies at and below a later occurrence of the fragment is counted there.
      const std::uint32_t occurrence = s.last.next(c, end);
      c = std::min(match, occurrence);
      if (c == end) break;
      if (c == occurrence) continue;
      const auto [total, width] = s.weight(c);
      if (width != 0 && !visit(total)) return false;
    }
  }
  return true;
}

template <class T>
template <class Visit>
bool UnfoldedTree<T>::visit_matches_above(const Node& node, const MatchMarks& marks, StopToken& stop,
                                          Visit visit) {
  const Block& block = *blocks_[node.block];
  for (std::uint64_t i = node.offset, end = node.offset + node.n_cursors; i < end; ++i) {
    if (stop.check()) return false;
    // The root of callers looks above the whole fragment: a match inside of it is no caller.
    const std::uint32_t at =
        node.key == kNone ? source_->owner_of(source_->tree().parent[block.context[i]]) : block.context[i];
    if (marks.is_at_or_above(at) && !visit(block.value[i])) return false;
  }
  return true;
}

template <class T>
template <class Visit>
Result<void> UnfoldedTree<T>::visit_matches(std::uint32_t id, const MatchMarks& marks, StopToken& stop,
                                            Visit visit) {
  if (nodes_[id].block == kRowsBlock) PROFD_CHECK(expand(id, stop));
  std::vector<std::uint32_t> todo{id};
  while (!todo.empty()) {
    const Node& node = nodes_[todo.back()];
    todo.pop_back();
    if (node.key != kNone && marks.matches(node.key)) {
      if (!visit(node.total)) return {};
    } else if (node.expanded) {
      for (std::uint32_t c = node.first_child + node.n_children; c-- > node.first_child;) todo.push_back(c);
    } else if (!(source_->down ? visit_matches_below(node, marks, stop, visit)
                               : visit_matches_above(node, marks, stop, visit))) {
      return stop.status();
    }
  }
  return stop.status();
}

// What matches at many nodes and below them. Breadth first and many nodes at a time: nodes, blocks and
// contexts lie far apart, most nodes have few of each, and waiting for one after the other is what would take
// the time.
template <class T>
class UnfoldedTree<T>::MatchSums {
 public:
  MatchSums(const UnfoldedTree& tree, const MatchMarks& marks, bool inside, StopToken& stop)
      : tree_(tree), marks_(marks), inside_(inside), stop_(stop) {}

  // Adds to sums[i] what matches at ids[i].
  void add(std::span<const std::uint32_t> ids, std::span<T> sums) {
    todo_.clear();
    folded_.clear();
    for (std::uint32_t i = 0; i < ids.size(); ++i) todo_.push_back({ids[i], i});
    walk(sums);
    add_folded(sums);
  }

 private:
  struct Todo {
    std::uint32_t node, sum;
  };
  // Down to where nothing is unfolded.
  void walk(std::span<T> sums) {
    const std::vector<Node>& nodes = tree_.nodes_;
    for (std::size_t at = 0; at < todo_.size() && !stop_.check(); ++at) {
      if (at + kAhead < todo_.size()) __builtin_prefetch(&nodes[todo_[at + kAhead].node]);
      const Node& node = nodes[todo_[at].node];
      const std::uint32_t sum = todo_[at].sum;
      if (node.key != kNone && marks_.matches(node.key)) {
        sums[sum] += node.total;
      } else if (node.expanded) {
        for (std::uint32_t c = 0; c < node.n_children; ++c) todo_.push_back({node.first_child + c, sum});
      } else {
        __builtin_prefetch(&tree_.blocks_[node.block]);
        folded_.push_back(todo_[at]);
      }
    }
  }
  const Node& folded(std::size_t at) const { return tree_.nodes_[folded_[at].node]; }

  void add_folded(std::span<T> sums) {
    const std::size_t n = folded_.size();
    for (std::size_t at = 0; at < n; ++at) {
      if (at + 2 * kAhead < n) __builtin_prefetch(tree_.blocks_[folded(at + 2 * kAhead).block].get());
      if (at + kAhead < n) {
        const Node& ahead = folded(at + kAhead);
        __builtin_prefetch(tree_.blocks_[ahead.block]->context.data() + ahead.offset);
      }
      const Node& node = folded(at);
      const std::vector<std::uint32_t>& contexts = tree_.blocks_[node.block]->context;
      for (std::uint32_t i = 0; i < node.n_cursors; ++i)
        below_.push_back({contexts[node.offset + i], folded_[at].sum});
      if (below_.size() < kMuchBelow && at + 1 < n) continue;
      marks_.sum_below(tree_.source_->tree(), tree_.source_->totals,
                       std::span<const MatchMarks::Below>(below_), inside_, sums, stop_);
      below_.clear();
    }
  }

  const UnfoldedTree& tree_;
  const MatchMarks& marks_;
  const bool inside_;
  StopToken& stop_;
  std::vector<Todo> todo_, folded_;
  std::vector<MatchMarks::Below> below_;
};

template <class T>
Result<typename UnfoldedTree<T>::Matching> UnfoldedTree<T>::matching_of(std::uint32_t id,
                                                                        const MatchMarks& marks,
                                                                        StopToken& stop) {
  if (matched_by_ != marks.found || matched_.size() >= kMaxMatched) {
    matched_.clear();
    matched_by_ = marks.found;
  }
  if (const auto known = matched_.find(id); known != matched_.end()) return known->second;
  Matching out;
  PROFD_CHECK(visit_matches(id, marks, stop, [&](T total) {
    out.any = true;
    out.total = add(out.total, total, source_->saturated);
    return true;
  }));
  matched_.emplace(id, out);
  return out;
}

template <class T>
Result<std::vector<typename UnfoldedTree<T>::Matching>> UnfoldedTree<T>::matching(
    std::span<const std::uint32_t> ids, const MatchMarks& marks, bool inside, StopToken& stop) {
  std::vector<Matching> out(ids.size());
  if (marks.none) return out;
  const Source& s = *source_;
  if (divided_) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (nodes_[ids[i]].key == kNone) PROFD_CHECK(expand(ids[i], stop));
      PROFD_TRY(out[i], divided_->matching(nodes_, ids[i], marks, stop));
    }
    return out;
  }
  if (!s.down || s.negative || s.saturated || !s.last.empty()) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      PROFD_TRY(out[i], matching_of(ids[i], marks, stop));
    }
    return out;
  }
  std::vector<T> sums(ids.size());
  MatchSums match_sums(*this, marks, inside, stop);
  for (std::size_t first = 0; first < ids.size(); first += kManyNodes) {
    const std::size_t n = std::min(kManyNodes, ids.size() - first);
    match_sums.add(ids.subspan(first, n), std::span<T>(sums).subspan(first, n));
    PROFD_CHECK(stop.status());
  }
  for (std::size_t i = 0; i < ids.size(); ++i) out[i] = {sums[i] != T{}, sums[i]};
  return out;
}

template <class T>
Result<bool> UnfoldedTree<T>::has_match(std::uint32_t id, const MatchMarks& marks, StopToken& stop) {
  if (marks.none) return false;
  if (divided_) return divided_->has_match(nodes_, id, marks, stop);
  if (const auto known = matched_.find(id); known != matched_.end() && matched_by_ == marks.found)
    return known->second.any;
  bool any = false;
  PROFD_CHECK(visit_matches(id, marks, stop, [&](T) {
    any = true;
    return false;
  }));
  return any;
}

template class UnfoldedTree<std::int64_t>;
template class UnfoldedTree<double>;

}  // namespace profd
