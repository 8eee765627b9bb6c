#include "core/view/values.h"

#include <algorithm>
#include <limits>

#include "core/support/sums.h"
#include "core/view/box_children.h"
#include "core/view/call_paths.h"
#include "core/view/memo.h"

namespace profd {
namespace {

// What is needed of columns for a context so many further on is fetched early.
constexpr std::size_t kSoon = 16;

// Values of the paths of a top-down or callees view, worked out for those that are asked for.
template <class T>
class PathSums {
 public:
  PathSums(const Selection& s, const PathContexts& contexts, ViewMemo::Values<T>& known)
      : s_(s),
        contexts_(contexts),
        known_(known),
        totals_(std::get<Column<T>>(s.sums->totals)),
        widths_(std::get<Column<T>>(s.sums->widths)) {
    known_.has_total.resize(contexts.size(), 0);
    known_.total.resize(contexts.size());
  }

  const T& total(std::uint32_t path) {
    if (known_.has_total[path] == 0) {
      T sum{};
      const auto at = contexts_.of(path);
      for (std::size_t i = 0; i < at.size(); ++i) {
        if (i + kSoon < at.size()) __builtin_prefetch(totals_.data() + at[i + kSoon]);
        sum = add(sum, weight(at[i]).first, s_.sums->saturated);
      }
      known_.total[path] = sum;
      known_.has_total[path] = 1;
    }
    return known_.total[path];
  }

  // What the children take is taken off, as UnfoldedTree does.
  Result<T> self(std::uint32_t path, StopToken& stop) {
    if (known_.has_self.size() < contexts_.size()) {
      known_.has_self.resize(contexts_.size(), 0);
      known_.self.resize(contexts_.size());
    }
    if (known_.has_self[path] == 0) {
      T below{}, width{};
      for (const std::uint32_t from : contexts_.of(path)) {
        width = add(width, weight(from).second, s_.sums->saturated);
        const bool all = for_each_child_box(
            s_.profile->tree(), s_.boxes->owner, from, stop, [&](std::uint32_t c) { return widths_[c] == 0; },
            [&](std::uint32_t child) {
              if (!known_.last.contains(child)) below = add(below, weight(child).first, s_.sums->saturated);
            });
        if (!all) return fail(ErrorCode::cancelled, "cancelled");
      }
      known_.self[path] = without_dust(subtract(total(path), below, s_.sums->saturated), width);
      known_.has_self[path] = 1;
    }
    return known_.self[path];
  }

 private:
  std::pair<T, T> weight(std::uint32_t c) const {
    return known_.last.weight(s_.profile->tree(), totals_, widths_, s_.sums->saturated, c);
  }

  const Selection& s_;
  const PathContexts& contexts_;
  ViewMemo::Values<T>& known_;
  const Column<T>& totals_;
  const Column<T>& widths_;
};

template <class T>
Result<BoxValues> downward(const Selection& s, PathContexts& contexts, ViewMemo::Lane& lane,
                           const BoxPaths& boxes, BoxValuesWanted wanted, StopToken& stop) {
  PROFD_TRY(const std::vector<std::uint32_t> paths, contexts.find(s, boxes, stop));
  if (std::holds_alternative<std::monostate>(lane.values)) {
    auto& fresh = lane.values.template emplace<ViewMemo::Values<T>>();
    if (!contexts.nested().empty())
      fresh.last.take(contexts.nested(), s.profile->tree(), std::get<Column<T>>(s.sums->totals),
                      std::get<Column<T>>(s.sums->widths), s.sums->saturated);
  }
  PathSums<T> sums(s, contexts, std::get<ViewMemo::Values<T>>(lane.values));
  BoxValues out;
  out.total.reserve(paths.size());
  for (const std::uint32_t path : paths) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    out.total.emplace_back(path == kNone ? T{} : sums.total(path));
    if (wanted == BoxValuesWanted::totals) continue;
    T self{};
    if (path != kNone) {
      PROFD_TRY(self, sums.self(path, stop));
    }
    out.self.emplace_back(self);
  }
  return out;
}

// Parents come before their children, so that every box is found below its parent's node.
template <class T>
Result<BoxValues> of_nodes(UnfoldedTree<T>& tree, const BoxPaths& boxes, BoxValuesWanted wanted,
                           StopToken& stop) {
  std::vector<std::uint32_t> node(boxes.size(), kNone);
  BoxValues out;
  for (std::size_t box = 0; box < boxes.size(); ++box) {
    const std::uint32_t parent = boxes.parent[box];
    if (parent == kNone) {
      node[box] = 0;
    } else if (boxes.key[box] < tree.keys().n_keys() && node[parent] != kNone) {
      PROFD_TRY(node[box], tree.child(node[parent], boxes.key[box], stop));
    }
    const bool known = node[box] != kNone;
    if (wanted == BoxValuesWanted::totals_and_selves) {
      if (known) PROFD_CHECK(tree.expand(node[box], stop));
      out.self.emplace_back(known ? tree.node(node[box]).self : T{});
    }
    out.total.emplace_back(known ? tree.node(node[box]).total : T{});
  }
  return out;
}

// Contexts of a key come in ascending order, and so do the rows.
template <class T>
class KeySums {
 public:
  explicit KeySums(const Selection& s)
      : s_(s),
        totals_(std::get<Column<T>>(s.sums->totals)),
        widths_(std::get<Column<T>>(s.sums->widths)),
        values_(std::get<Column<T>>(s.rows->self.values[s.metric().v])) {}

  // False when stopped.
  bool add_key(std::span<const std::uint32_t> contexts, KeyValues& out, StopToken& stop) {
    const ContextTree& tree = s_.profile->tree();
    T self{}, total{};
    bool present = false;
    row_ = 0;
    std::uint32_t inside_until = 0;
    for (std::size_t i = 0; i < contexts.size(); ++i) {
      if (stop.check()) return false;
      if (i + kSoon < contexts.size()) __builtin_prefetch(widths_.data() + contexts[i + kSoon]);
      const std::uint32_t c = contexts[i];
      if (widths_[c] == 0) continue;
      present = true;
      if (c >= inside_until) {
        inside_until = tree.subtree_end[c];
        total = add(total, totals_[c], s_.sums->saturated);
      }
      add_rows(c, self);
      for (std::uint32_t part = c + 1; !s_.boxes->owner.empty() && part < tree.subtree_end[c];) {
        if (stop.check()) return false;
        if (s_.boxes->owner[part] != c) {
          part = tree.subtree_end[part];
          continue;
        }
        add_rows(part, self);
        ++part;
      }
    }
    out.self.emplace_back(self);
    out.total.emplace_back(total);
    out.present.push_back(present ? 1 : 0);
    return true;
  }

 private:
  void add_rows(std::uint32_t context, T& sum) {
    const auto& rows = s_.rows->self.contexts;
    // A folded part of one box can lie behind the next box of the key.
    const auto* const from = row_ < rows.size() && rows[row_] <= context ? rows.begin() + row_ : rows.begin();
    const auto* at = gallop(from, rows.end(), context);
    for (; at != rows.end() && *at == context; ++at)
      sum = add(sum, finite(values_[static_cast<std::size_t>(at - rows.begin())]), s_.sums->saturated);
    row_ = static_cast<std::size_t>(at - rows.begin());
  }
  // The first that is not below `context`, looked for near `at` first.
  static const std::uint32_t* gallop(const std::uint32_t* at, const std::uint32_t* end,
                                     std::uint32_t context) {
    std::ptrdiff_t step = 1;
    while (end - at > step && at[step] < context) {
      at += step;
      step *= 2;
    }
    return std::lower_bound(at, end - at > step ? at + step + 1 : end, context);
  }

  const Selection& s_;
  const Column<T>& totals_;
  const Column<T>& widths_;
  const Column<T>& values_;
  std::size_t row_ = 0;
};

bool makes_divided(const Selection& values, Shape shape, const std::vector<Key>& focus) {
  return std::holds_alternative<Column<double>>(values.sums->totals)
             ? CallPaths<double>::answers(values, shape, focus)
             : CallPaths<std::int64_t>::answers(values, shape, focus);
}

BoxValues unknown_values(const BoxPaths& boxes, BoxValuesWanted wanted) {
  const Value unknown = std::numeric_limits<double>::quiet_NaN();
  BoxValues out;
  out.total.assign(boxes.size(), unknown);
  if (wanted == BoxValuesWanted::totals_and_selves) out.self.assign(boxes.size(), unknown);
  return out;
}

}  // namespace

Result<BoxValues> values_of_boxes(const Selection& values, Shape shape, const std::vector<Key>& focus,
                                  const BoxPaths& boxes, BoxValuesWanted wanted, StopToken stop) {
  if (boxes.divided != makes_divided(values, shape, focus)) return unknown_values(boxes, wanted);
  if (boxes.divided || (shape != Shape::top_down && shape != Shape::callees))
    return values.memo->with_tree(values, shape, focus, stop,
                                  [&]<class T>(UnfoldedTree<T>& tree, StopToken& while_held) {
                                    return of_nodes(tree, boxes, wanted, while_held);
                                  });
  const std::shared_ptr<KeyMemo::Paths> paths =
      values.boxes->memo->paths(shape, shape == Shape::callees ? focus : std::vector<Key>());
  PROFD_TRY(const Turn::Hold hold, paths->turn.take(stop));
  StopToken while_held = hold.token(stop);
  if (!paths->contexts) {
    PROFD_TRY(paths->contexts, PathContexts::make(values, shape, focus, while_held));
  }
  const std::shared_ptr<ViewMemo::Lane> lane = values.memo->lane(paths);
  auto out = std::visit(
      [&]<class T>(const Column<T>&) {
        return downward<T>(values, *paths->contexts, *lane, boxes, wanted, while_held);
      },
      values.sums->totals);
  values.boxes->memo->account(paths);
  values.memo->account(lane);
  return out;
}

KeyValues values_of_keys(const Selection& values, const FlatView& table, std::span<const Key> keys) {
  const Value zero = std::visit([](auto v) { return Value(decltype(v){}); }, values.sums->total);
  KeyValues out;
  for (const Key key : keys) {
    const std::optional<std::size_t> row = table.row_of(key);
    out.self.push_back(row ? table.self[*row] : zero);
    out.total.push_back(row ? table.total[*row] : zero);
    out.present.push_back(row ? 1 : 0);
  }
  return out;
}

Result<KeyValues> values_of_keys(const Selection& values, const KeyIndex& index, std::span<const Key> keys,
                                 StopToken stop) {
  return std::visit(
      [&]<class T>(const Column<T>&) -> Result<KeyValues> {
        KeySums<T> sums(values);
        KeyValues out;
        for (const Key key : keys) {
          const auto contexts =
              key < values.boxes->keys->n_keys() ? index.of(key) : std::span<const std::uint32_t>();
          if (!sums.add_key(contexts, out, stop)) return fail(ErrorCode::cancelled, "cancelled");
        }
        return out;
      },
      values.sums->totals);
}

bool has_few_contexts(const Selection& values, const KeyIndex& index, std::span<const Key> keys) {
  std::size_t n = 0;
  for (const Key key : keys) n += key < values.boxes->keys->n_keys() ? index.of(key).size() : 0;
  return n * 8 < values.profile->tree().size();
}

}  // namespace profd
