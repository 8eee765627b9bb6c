#include "formats/writers/view_rows.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "core/view/column_tree.h"
#include "core/view/focus.h"
#include "core/view/sweep.h"
#include "core/view/table.h"
#include "core/view/values.h"
#include "formats/writers/measurements.h"

namespace profd::writers {
namespace {

constexpr std::size_t kMaxRows = 10'000'000;

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

// The trees of all metrics in step: a path that has values in one of them is a row.
class Walk {
 public:
  static Result<void> run(const View& view, LossReport& losses,
                          const std::function<Result<void>(const ViewRow&)>& each, StopToken& stop) {
    PROFD_TRY(Columns columns, columns_of(view.selections));
    PROFD_TRY(ColumnTree tree, ColumnTree::make(std::move(columns), view.spec.shape, view.focus, stop));
    Walk walk(view, std::move(tree), each);
    PROFD_CHECK(walk.visit_all(stop));
    count_loss(losses, "unopened",
               "Boxes below 0.01 % of the view were not opened: what they call counts as their own.",
               walk.n_closed_);
    return {};
  }

 private:
  struct Pending {
    std::uint32_t parent, depth, node;
    Value x;
  };

  Walk(const View& view, ColumnTree tree, const std::function<Result<void>(const ViewRow&)>& each)
      : view_(view), tree_(std::move(tree)), each_(each) {
    const std::size_t n = tree_.columns().size();
    row_.self.resize(n);
    row_.total.resize(n);
    row_.estimate.resize(n);
    pending_.push_back({kNone, 0, 0, tree_.columns().zero(0)});
  }

  Result<void> visit_all(StopToken& stop) {
    while (!pending_.empty()) {
      const Pending box = pending_.back();
      pending_.pop_back();
      PROFD_CHECK(visit(box, stop));
    }
    return {};
  }

  // The row of a box is given, its children are pending, the first of them next.
  Result<void> visit(const Pending& box, StopToken& stop) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const bool opened = opens(box.node);
    if (opened) PROFD_CHECK(tree_.expand(box.node, stop));
    row_.id = next_++;
    row_.parent = box.parent;
    row_.depth = box.depth;
    row_.key = tree_.node(box.node).key;
    row_.x = box.x;
    row_.width = tree_.width(box.node, 0);
    for (std::size_t column = 0; column < row_.total.size(); ++column) {
      row_.total[column] = tree_.total(box.node, column);
      row_.self[column] = opened ? tree_.self(box.node, column) : row_.total[column];
      row_.estimate[column] = tree_.estimate(box.node, column);
      n_closed_ += !opened && tree_.has(box.node, column) ? 1 : 0;
    }
    if (next_ > kMaxRows || tree_.size() > 2 * kMaxRows)
      return fail(ErrorCode::limit,
                  fmt::format("the view has more than {} rows; filters make it smaller", kMaxRows));
    const FrameTable& frames = view_.profile->frames();
    const std::uint32_t frame = row_.key == kNone ? kNone : tree_.frame(box.node);
    row_.kind = frame != kNone ? frames.kind[frame] : FrameKind::native;
    row_.inlined = frame != kNone && frames.inlined[frame] != 0;
    PROFD_CHECK(each_(row_));
    push_children(box);
    return {};
  }

  // Paths through a graph of calls can be without end: what is opened is what counts in some column.
  bool opens(std::uint32_t node) const {
    constexpr double kLeast = 1e-4;
    for (std::size_t column = 0; column < row_.total.size(); ++column)
      if (tree_.has(node, column) &&
          (!tree_.divided(column) ||
           as_double(tree_.width(node, column)) >= kLeast * as_double(tree_.width(0, column))))
        return true;
    return false;
  }

  void push_children(const Pending& box) {
    const ColumnTree::Node& node = tree_.node(box.node);
    order_.resize(node.n_children);
    std::iota(order_.begin(), order_.end(), node.first_child);
    const std::vector<std::uint32_t>& rank = tree_.columns().name_rank();
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Key first = tree_.node(a).key, second = tree_.node(b).key;
      return rank[first] != rank[second] ? rank[first] < rank[second] : first < second;
    });
    const std::size_t first = pending_.size();
    Value x = box.x;
    for (const std::uint32_t child : order_) {
      pending_.push_back({row_.id, box.depth + 1, child, x});
      x = sum(x, tree_.width(child, 0));
    }
    std::reverse(pending_.begin() + static_cast<std::ptrdiff_t>(first), pending_.end());
  }

  const View& view_;
  ColumnTree tree_;
  const std::function<Result<void>(const ViewRow&)>& each_;
  std::uint64_t n_closed_ = 0;
  std::vector<Pending> pending_;
  std::vector<std::uint32_t> order_;  // scratch: the children of a box in order of name
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
  return Walk::run(view, losses, each, stop);
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
