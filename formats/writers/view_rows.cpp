#include "formats/writers/view_rows.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "core/view/focus.h"
#include "core/view/sweep.h"
#include "core/view/table.h"
#include "core/view/unfold.h"
#include "core/view/values.h"
#include "formats/writers/measurements.h"

namespace profd::writers {
namespace {

constexpr std::size_t kMaxRows = 10'000'000;

Value zero_like(const Value& value) {
  return std::visit([](auto v) { return Value(decltype(v){}); }, value);
}
Value sum(const Value& a, const Value& b) {
  if (const auto* x = std::get_if<std::int64_t>(&a), *y = std::get_if<std::int64_t>(&b); x && y)
    return add(*x, *y, true);
  return as_double(a) + as_double(b);
}

Result<void> flat_rows(const View& view, StopToken& stop,
                       const std::function<Result<void>(const ViewRow&)>& each) {
  const std::size_t n_metrics = view.selections.size();
  std::vector<FlatView> flat;
  std::vector<Key> keys;
  for (const SelectionPtr& selection : view.selections) {
    PROFD_TRY(FlatView one, flat_view(*selection, stop));
    keys.insert(keys.end(), one.key.begin(), one.key.end());
    flat.push_back(std::move(one));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::vector<KeyValues> columns;
  for (std::size_t m = 0; m < n_metrics; ++m)
    columns.push_back(values_of_keys(*view.selections[m], flat[m], keys));
  const std::vector<std::uint32_t>& rank = view.first().boxes->keys->name_rank;
  std::vector<std::uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    for (const auto* column : {&columns[0].self, &columns[0].total})
      if ((*column)[a] != (*column)[b]) return (*column)[a] > (*column)[b];
    return rank[keys[a]] < rank[keys[b]];
  });
  ViewRow out;
  out.self.resize(n_metrics);
  out.total.resize(n_metrics);
  out.estimate.resize(n_metrics);
  for (const std::uint32_t i : order) {
    out.key = keys[i];
    for (std::size_t m = 0; m < n_metrics; ++m) {
      const std::optional<std::size_t> row = flat[m].row_of(keys[i]);
      out.estimate[m] = row ? flat[m].estimate_of(*row) : kExact;
      out.self[m] = columns[m].self[i];
      out.total[m] = columns[m].total[i];
    }
    PROFD_CHECK(each(out));
    ++out.id;
  }
  return {};
}

// The tree of one metric, whatever its numbers are.
class AnyTree {
 public:
  struct Node {
    Key key;
    std::uint32_t frame, first_child, n_children;
    Value width, total, self;
    Estimate estimate;
  };

  static Result<AnyTree> make(const Selection& selection, const View& view, StopToken& stop) {
    AnyTree out;
    if (std::holds_alternative<std::int64_t>(selection.sums->total)) {
      PROFD_TRY(out.whole_, UnfoldedTree<std::int64_t>::make(selection, view.spec.shape, view.focus, stop));
    } else {
      PROFD_TRY(out.real_, UnfoldedTree<double>::make(selection, view.spec.shape, view.focus, stop));
    }
    return out;
  }
  Result<void> expand(std::uint32_t id, StopToken& stop) {
    return whole_ ? whole_->expand(id, stop) : real_->expand(id, stop);
  }
  Node node(std::uint32_t id) const { return whole_ ? node_of(*whole_, id) : node_of(*real_, id); }
  std::size_t size() const { return whole_ ? whole_->size() : real_->size(); }
  bool divided() const { return whole_ ? whole_->divided() : real_->divided(); }

 private:
  template <class T>
  static Node node_of(const UnfoldedTree<T>& tree, std::uint32_t id) {
    const auto& n = tree.node(id);
    return {n.key,          n.frame,        n.first_child, n.n_children,
            Value(n.width), Value(n.total), Value(n.self), n.estimate};
  }
  std::unique_ptr<UnfoldedTree<std::int64_t>> whole_;
  std::unique_ptr<UnfoldedTree<double>> real_;
};

// One tree a metric, walked side by side: a path that has values in one of them is a row.
class Walk {
 public:
  Walk(const View& view, LossReport& losses, const std::function<Result<void>(const ViewRow&)>& each)
      : view_(view), losses_(losses), each_(each), rank_(view.first().boxes->keys->name_rank) {}

  Result<void> run(StopToken& stop) {
    for (const SelectionPtr& selection : view_.selections) {
      PROFD_TRY(AnyTree tree, AnyTree::make(*selection, view_, stop));
      trees_.push_back(std::move(tree));
    }
    row_.self.resize(trees_.size());
    row_.total.resize(trees_.size());
    row_.estimate.resize(trees_.size());
    pending_.push_back({kNone, 0, kNone, zero_like(view_.first().sums->total)});
    nodes_.assign(trees_.size(), 0);
    while (!pending_.empty()) PROFD_CHECK(visit(stop));
    count_loss(losses_, "unopened",
               "Boxes below 0.01 % of the view were not opened: what they call counts as their own.",
               n_closed_);
    return {};
  }

 private:
  struct Pending {
    std::uint32_t parent, depth;
    Key key;
    Value x;
  };
  struct Child {
    Key key;
    std::uint32_t metric, node;
  };

  // The last pending box: its row is given, its children are pending.
  Result<void> visit(StopToken& stop) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::size_t n_metrics = trees_.size();
    const Pending box = pending_.back();
    pending_.pop_back();
    const std::vector<std::uint32_t> ids(nodes_.end() - static_cast<std::ptrdiff_t>(n_metrics), nodes_.end());
    nodes_.resize(nodes_.size() - n_metrics);
    row_.id = next_++;
    row_.parent = box.parent;
    row_.depth = box.depth;
    row_.key = box.key;
    row_.x = box.x;
    row_.width = zero_like(view_.first().sums->total);
    std::uint32_t frame = kNone;
    children_.clear();
    std::size_t n_nodes = 0;
    for (std::uint32_t m = 0; m < n_metrics; ++m) {
      row_.self[m] = row_.total[m] = zero_like(view_.selections[m]->sums->total);
      row_.estimate[m] = kExact;
      if (ids[m] == kNone) continue;
      const bool opened = opens(trees_[m], ids[m]);
      if (opened) PROFD_CHECK(trees_[m].expand(ids[m], stop));
      const AnyTree::Node node = trees_[m].node(ids[m]);
      row_.self[m] = opened ? node.self : node.total;
      row_.total[m] = node.total;
      row_.estimate[m] = node.estimate;
      n_closed_ += opened ? 0 : 1;
      if (m == 0) row_.width = node.width;
      if (frame == kNone) frame = node.frame;
      for (std::uint32_t c = node.first_child; c < node.first_child + node.n_children; ++c)
        children_.push_back({trees_[m].node(c).key, m, c});
      n_nodes += trees_[m].size();
    }
    if (next_ > kMaxRows || n_nodes > 2 * kMaxRows)
      return fail(ErrorCode::limit,
                  fmt::format("the view has more than {} rows; filters make it smaller", kMaxRows));
    const FrameTable& frames = view_.profile->frames();
    const bool has_frame = box.key != kNone && frame != kNone;
    row_.kind = has_frame ? frames.kind[frame] : FrameKind::native;
    row_.inlined = has_frame && frames.inlined[frame] != 0;
    PROFD_CHECK(each_(row_));
    push_children(box);
    return {};
  }

  static bool opens(const AnyTree& tree, std::uint32_t id) {
    constexpr double kLeast = 1e-4;
    return !tree.divided() || as_double(tree.node(id).width) >= kLeast * as_double(tree.node(0).width);
  }

  void push_children(const Pending& box) {
    std::sort(children_.begin(), children_.end(), [&](const Child& a, const Child& b) {
      if (rank_[a.key] != rank_[b.key]) return rank_[a.key] < rank_[b.key];
      return a.key != b.key ? a.key < b.key : a.metric < b.metric;
    });
    const std::size_t first = pending_.size(), n_metrics = trees_.size();
    Value x = box.x;
    for (std::size_t i = 0; i < children_.size(); ++i) {
      if (i == 0 || children_[i].key != children_[i - 1].key) {
        pending_.push_back({row_.id, box.depth + 1, children_[i].key, x});
        nodes_.resize(nodes_.size() + n_metrics, kNone);
      }
      nodes_[nodes_.size() - n_metrics + children_[i].metric] = children_[i].node;
      if (children_[i].metric == 0) x = sum(x, trees_[0].node(children_[i].node).width);
    }
    // The first child comes next.
    std::reverse(pending_.begin() + static_cast<std::ptrdiff_t>(first), pending_.end());
    const std::size_t n = pending_.size() - first, begin = nodes_.size() - n * n_metrics;
    for (std::size_t i = 0; i < n / 2; ++i)
      std::swap_ranges(nodes_.begin() + static_cast<std::ptrdiff_t>(begin + i * n_metrics),
                       nodes_.begin() + static_cast<std::ptrdiff_t>(begin + (i + 1) * n_metrics),
                       nodes_.begin() + static_cast<std::ptrdiff_t>(begin + (n - 1 - i) * n_metrics));
  }

  const View& view_;
  LossReport& losses_;
  std::uint64_t n_closed_ = 0;
  const std::function<Result<void>(const ViewRow&)>& each_;
  const std::vector<std::uint32_t>& rank_;
  std::vector<AnyTree> trees_;
  std::vector<Pending> pending_;
  std::vector<std::uint32_t> nodes_;  // of every pending box, by metric; kNone where it has no value
  std::vector<Child> children_;
  ViewRow row_;
  std::uint32_t next_ = 0;
};

}  // namespace

Result<View> view_of(const ProfilePtr& profile, const WriteOptions& options, std::string_view otherwise) {
  View view;
  view.profile = profile;
  if (options.spec) {
    view.spec = *options.spec;
  } else {
    PROFD_TRY(view.spec, parse_view_spec(otherwise));
  }
  if (!options.metric.empty()) view.spec.metric = options.metric;
  ViewCache parts(std::numeric_limits<std::size_t>::max());  // what all metrics have in common is made once
  const PartsOf kept(parts, 0);
  PROFD_TRY(SelectionPtr first, select(profile, view.spec, options.stop, kept));
  view.selections.push_back(std::move(first));
  for (std::size_t m = 0; m < profile->metrics().size(); ++m) {
    if (m == view.first().metric().v) continue;
    ViewSpec other = view.spec;
    other.metric = profile->metrics()[m].name;
    // Of metrics that share a name the first is what a spec can mean.
    if (profile->find_metric(other.metric) != MetricId{m}) continue;
    // Boxes of one tree are the same in all metrics.
    const bool tree = view.spec.shape != Shape::flat;
    if (tree && !view.first().divided) other.proven = true;
    PROFD_TRY(SelectionPtr selection, select(profile, other, options.stop, kept));
    if (tree && view.first().divided && !selection->divided) {
      ++view.n_uncalled;
      continue;
    }
    view.selections.push_back(std::move(selection));
  }
  PROFD_TRY(view.focus, keys_of_focus(view.first(), view.spec.focus));
  return view;
}

void report_losses_of_view(std::span<const ProfilePtr> profiles, const View& view, LossReport& losses) {
  const bool tree = view.spec.shape != Shape::flat;
  const Granularity by = view.spec.granularity;
  report_losses(profiles, 1,
                {.lines = by == Granularity::line || by == Granularity::address,
                 .addresses = by == Granularity::address,
                 .modules = true,
                 .kinds = tree,
                 .inlining = tree},
                losses);
  count_loss(losses, "metrics", "Metrics that share their name with another one are not written.",
             view.profile->metrics().size() - view.selections.size() - view.n_uncalled);
  count_loss(
      losses, "metrics",
      "Metrics that say nothing of what calls cost, as numbers of calls, are not written in a tree of calls; "
      "a flat view has them, and a tree with `paths proven`.",
      view.n_uncalled);
  if (!tree) count_loss(losses, "stacks", "A flat view has no stacks.", view.profile->tree().size() - 1);
  report_excluded(view.first(), losses);
}

Result<void> for_each_row(const View& view, StopToken stop, LossReport& losses,
                          const std::function<Result<void>(const ViewRow&)>& each) {
  if (view.spec.shape == Shape::flat) return flat_rows(view, stop, each);
  return Walk(view, losses, each).run(stop);
}

std::string_view text_of(Estimate estimate) {
  switch (estimate) {
    case kSelfEstimated:
      return "self";
    case kTotalEstimated:
      return "total";
    case kBothEstimated:
      return "self and total";
    default:
      return "";
  }
}

std::string_view text_of(FrameKind kind) {
  switch (kind) {
    case FrameKind::native:
      return "native";
    case FrameKind::jit:
      return "jit";
    case FrameKind::interpreted:
      return "interpreted";
    case FrameKind::kernel:
      return "kernel";
    case FrameKind::gc:
      return "gc";
    case FrameKind::waker:
      return "waker";
    case FrameKind::data_object:
      return "data";
  }
  return "native";
}

}  // namespace profd::writers
