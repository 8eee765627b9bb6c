#include "core/layout/flame.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

#include "core/view/match_marks.h"
#include "core/view/memo.h"
#include "core/view/sweep.h"

namespace profd {
namespace {

constexpr std::uint32_t kHardMaxBoxes = 5000;

// Boxes in order of making; put in breadth-first order at the end.
template <class T>
struct Box {
  std::uint32_t parent = kNone, depth = 0, node = kNone, n_merged = 0;
  T x{}, width{}, self{}, total{};
  bool more = false;
  bool inside = false;     // with a search: it or a box above it matches
  bool estimated = false;  // a remainder with estimates in it
  std::uint32_t n_matched = 0;
  T matched{};
};

template <class T>
class FlameMaker {
 public:
  FlameMaker(UnfoldedTree<T>& tree, const LayoutRequest& request, StopToken& stop)
      : tree_(tree),
        request_(request),
        search_(request.matches != nullptr ? request.matches->found.get() : request.search),
        stop_(stop) {}

  Result<FlameLayout> make() {
    max_boxes_ = std::min(request_.max_boxes == 0 ? kHardMaxBoxes : request_.max_boxes, kHardMaxBoxes);
    PROFD_CHECK(place_ancestors());
    const std::uint32_t zoomed = n_boxes() - 1;
    const double pixels = request_.viewport_px > 0 ? request_.viewport_px : 1200;
    const double min_pixels = request_.min_width_px > 0 ? request_.min_width_px : 0;
    threshold_ = static_cast<double>(boxes_[zoomed].width) * (min_pixels / pixels);

    std::priority_queue<std::pair<double, std::uint32_t>, std::vector<std::pair<double, std::uint32_t>>,
                        Wider>
        queue;
    queue.emplace(static_cast<double>(boxes_[zoomed].width), zoomed);
    while (!queue.empty()) {
      const std::uint32_t box = queue.top().second;
      queue.pop();
      if (request_.max_depth > 0 && boxes_[box].depth - boxes_[zoomed].depth >= request_.max_depth) {
        PROFD_CHECK(tree_.expand(boxes_[box].node, stop_));
        boxes_[box].self = tree_.node(boxes_[box].node).self;
        leave_out_children(box);
        continue;
      }
      const std::uint32_t first = n_boxes();
      PROFD_CHECK(place_children(box));
      for (std::uint32_t b = first; b < n_boxes(); ++b) {
        if (boxes_[b].node != kNone) queue.emplace(static_cast<double>(boxes_[b].width), b);
      }
    }
    PROFD_CHECK(count_matches(hidden_, false));
    PROFD_CHECK(count_matches(hidden_inside_, true));
    return finish(zoomed);
  }

 private:
  // With a search: what has no box of its own, and the box it counts in. Looked at when all boxes are there:
  // many at once take much less time than each on its own.
  struct Hidden {
    std::vector<std::uint32_t> nodes, boxes;
  };

  // The wider box first; of equal ones the one made first, so that answers are stable.
  struct Wider {
    bool operator()(const std::pair<double, std::uint32_t>& a,
                    const std::pair<double, std::uint32_t>& b) const {
      if (a.first != b.first) return a.first < b.first;
      return a.second > b.second;
    }
  };

  std::uint32_t n_boxes() const { return static_cast<std::uint32_t>(boxes_.size()); }

  // The boxes from the root to the zoomed one, all as wide as the zoomed one.
  Result<void> place_ancestors() {
    PROFD_TRY(std::uint32_t node, tree_.find(request_.zoom, stop_));
    const T width = tree_.node(node).width;
    std::vector<std::uint32_t> path;
    for (; node != kNone; node = tree_.node(node).parent) path.push_back(node);
    std::reverse(path.begin(), path.end());
    for (std::uint32_t depth = 0; depth < path.size(); ++depth) {
      const auto& at = tree_.node(path[depth]);
      boxes_.push_back({depth == 0 ? kNone : depth - 1, depth, path[depth], 0, T{}, width, at.self, at.total,
                        false, is_inside(depth == 0 ? kNone : depth - 1, path[depth]), false, 0, T{}});
    }
    return {};
  }

  Result<void> place_children(std::uint32_t parent) {
    const std::uint32_t node = boxes_[parent].node;
    PROFD_CHECK(tree_.expand(node, stop_));
    const auto& of = tree_.node(node);
    boxes_[parent].self = of.self;
    if (of.n_children == 0) return {};
    const std::uint32_t room = max_boxes_ > n_boxes() ? max_boxes_ - n_boxes() : 0;
    if (room == 0) {
      truncated_ = true;
      leave_out_children(parent);
      return {};
    }
    std::vector<std::uint32_t>& wide = wide_;
    wide.clear();
    for (std::uint32_t c = of.first_child; c < of.first_child + of.n_children; ++c) {
      if (static_cast<double>(tree_.node(c).width) >= threshold_) wide.push_back(c);
    }
    const auto wider = [&](std::uint32_t a, std::uint32_t b) {
      if (tree_.node(a).width != tree_.node(b).width) return tree_.node(a).width > tree_.node(b).width;
      return a < b;
    };
    const std::uint32_t for_remainder = wide.size() < of.n_children ? 1 : 0;
    if (wide.size() + for_remainder > room) {
      truncated_ = true;
      std::nth_element(wide.begin(), wide.begin() + (room - 1), wide.end(), wider);
      wide.resize(room - 1);
      if (request_.order == SiblingOrder::name) std::sort(wide.begin(), wide.end());
    }
    if (request_.order == SiblingOrder::weight) std::sort(wide.begin(), wide.end(), wider);
    place_row(parent, wide);
    return {};
  }

  void leave_out_children(std::uint32_t box) {
    const auto& of = tree_.node(boxes_[box].node);
    boxes_[box].more = of.n_children > 0;
    for (std::uint32_t c = 0; c < of.n_children; ++c) hide(of.first_child + c, box, boxes_[box].inside);
  }

  bool is_inside(std::uint32_t parent, std::uint32_t node) const {
    if (search_ == nullptr) return false;
    const Key key = node == kNone ? kNone : tree_.node(node).key;
    return (parent != kNone && boxes_[parent].inside) || (key != kNone && search_->matches[key] != 0);
  }

  // A node that gets no box of its own: what of it matches counts in `box`. `inside`: its parent or a box
  // above that matches.
  void hide(std::uint32_t node, std::uint32_t box, bool inside) {
    if (request_.matches == nullptr) return;
    Hidden& hidden = inside ? hidden_inside_ : hidden_;
    hidden.nodes.push_back(node);
    hidden.boxes.push_back(box);
  }

  Result<void> count_matches(const Hidden& hidden, bool inside) {
    if (hidden.nodes.empty()) return {};
    PROFD_TRY(const auto matching, tree_.matching(hidden.nodes, *request_.matches, inside, stop_));
    for (std::size_t i = 0; i < matching.size(); ++i) {
      Box<T>& box = boxes_[hidden.boxes[i]];
      box.n_matched += matching[i].any ? 1 : 0;
      box.matched = add(box.matched, matching[i].total, tree_.saturated());
    }
    return {};
  }

  // The children chosen, side by side from the left edge of the parent, then all others as one box.
  void place_row(std::uint32_t parent, const std::vector<std::uint32_t>& chosen) {
    const auto& of = tree_.node(boxes_[parent].node);
    const bool saturated = tree_.saturated();
    const std::uint32_t depth = boxes_[parent].depth + 1;
    T x = boxes_[parent].x;
    T room = boxes_[parent].width;  // clamped sums may say more than the parent holds
    shown_.assign(of.n_children, 0);
    const auto place = [&](std::uint32_t node, std::uint32_t n_merged, T width, T self, T total) {
      width = std::min(width, room);
      boxes_.push_back({parent, depth, node, n_merged, x, width, self, total, false, is_inside(parent, node),
                        false, 0, T{}});
      x = add(x, width, saturated);
      room = subtract(room, width, saturated);
    };
    for (std::uint32_t c : chosen) {
      shown_[c - of.first_child] = 1;
      place(c, 0, tree_.node(c).width, T{}, tree_.node(c).total);
    }
    if (chosen.size() == of.n_children) return;
    T width{}, total{};
    bool estimated = false;
    const std::uint32_t remainder = n_boxes();
    for (std::uint32_t i = 0; i < of.n_children; ++i) {
      if (shown_[i] != 0) continue;
      hide(of.first_child + i, remainder, boxes_[parent].inside);
      width = add(width, tree_.node(of.first_child + i).width, saturated);
      total = add(total, tree_.node(of.first_child + i).total, saturated);
      estimated |= (tree_.node(of.first_child + i).estimate & kTotalEstimated) != 0;
    }
    place(kNone, of.n_children - static_cast<std::uint32_t>(chosen.size()), width, T{}, total);
    boxes_[remainder].estimated = estimated;
  }

  // Boxes are in the order of making, parents first. What lies below a match counts with it.
  void sum_matches(std::uint32_t zoomed, FlameLayout& out) const {
    T shown{}, hidden{};
    for (std::uint32_t i = zoomed; i < n_boxes(); ++i) {
      const Box<T>& box = boxes_[i];
      const bool above = box.parent != kNone && boxes_[box.parent].inside;
      const bool starts = box.inside && (!above || i == zoomed);
      if (starts) shown = add(shown, box.total, tree_.saturated());
      if (!box.inside) hidden = add(hidden, box.matched, tree_.saturated());
    }
    out.matched_shown = shown;
    out.matched_hidden = hidden;
  }

  FlameLayout finish(std::uint32_t zoomed) const {
    const std::uint32_t n = n_boxes();
    std::vector<std::uint32_t> order(n), position(n);
    std::iota(order.begin(), order.end(), 0u);
    // Boxes of one parent were made together and in order; what is left is rows from left to right.
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (boxes_[a].depth != boxes_[b].depth) return boxes_[a].depth < boxes_[b].depth;
      return boxes_[a].x < boxes_[b].x;
    });
    for (std::uint32_t i = 0; i < n; ++i) position[order[i]] = i;

    const FrameTable& frames = tree_.profile().frames();
    FlameLayout out;
    const auto make_room = [n](auto&... columns) { (columns.reserve(n), ...); };
    make_room(out.parent, out.depth, out.key, out.x, out.width, out.self, out.total, out.n_merged, out.kind,
              out.inlined, out.more);
    const bool counted = request_.matches != nullptr;
    if (counted) make_room(out.n_matched, out.matched);
    for (std::uint32_t i : order) {
      const Box<T>& box = boxes_[i];
      const std::uint32_t frame = box.node == kNone ? kNone : tree_.node(box.node).frame;
      out.parent.push_back(box.parent == kNone ? kNone : position[box.parent]);
      out.depth.push_back(box.depth);
      out.key.push_back(box.node == kNone ? kNoKey : tree_.node(box.node).key);
      out.x.emplace_back(box.x);
      out.width.emplace_back(box.width);
      out.self.emplace_back(box.self);
      out.total.emplace_back(box.total);
      out.n_merged.push_back(box.n_merged);
      out.kind.push_back(frame == kNone ? FrameKind::native : frames.kind[frame]);
      out.inlined.push_back(frame == kNone ? 0 : frames.inlined[frame]);
      out.more.push_back(box.more ? 1 : 0);
      if (tree_.estimated())
        out.estimate.push_back(box.node != kNone ? tree_.node(box.node).estimate
                               : box.estimated   ? kTotalEstimated
                                                 : kExact);
      if (counted) {
        out.n_matched.push_back(box.n_matched);
        out.matched.emplace_back(box.matched);
      }
      out.deepest = std::max(out.deepest, box.depth + 1);
    }
    out.total_width = boxes_[zoomed].width;
    if (search_ != nullptr) sum_matches(zoomed, out);
    out.truncated = truncated_;
    out.divided = tree_.divided();
    return out;
  }

  UnfoldedTree<T>& tree_;
  const LayoutRequest& request_;
  const SearchResult* search_;  // null: nothing is searched
  StopToken& stop_;
  std::vector<Box<T>> boxes_;
  Hidden hidden_, hidden_inside_;
  // Of the box whose children are being placed.
  std::vector<std::uint32_t> wide_;
  std::vector<std::uint8_t> shown_;
  std::uint32_t max_boxes_ = 0;
  double threshold_ = 0;
  bool truncated_ = false;
};

}  // namespace

Result<FlameLayout> layout_flame(const Selection& selection, const LayoutRequest& request, StopToken stop) {
  return selection.memo->with_tree(selection, request.shape, request.focus, stop,
                                   [&]<class T>(UnfoldedTree<T>& tree, StopToken& while_held) {
                                     return FlameMaker<T>(tree, request, while_held).make();
                                   });
}

}  // namespace profd
