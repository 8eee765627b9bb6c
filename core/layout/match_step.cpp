#include "core/layout/match_step.h"

#include <algorithm>
#include <numeric>

#include "core/view/match_marks.h"
#include "core/view/memo.h"

namespace profd {
namespace {

template <class T>
class MatchWalk {
 public:
  MatchWalk(UnfoldedTree<T>& tree, const MatchMarks& matches, const MatchStep& step, StopToken& stop)
      : tree_(tree), matches_(matches), step_(step), stop_(stop) {}

  Result<std::optional<FoundMatch>> go() {
    PROFD_TRY(within_, tree_.find(step_.within, stop_));
    PROFD_TRY(std::uint32_t from, tree_.find(step_.from, stop_));
    if (!is_within(from)) from = within_;
    bool wrapped = false;
    PROFD_TRY(std::uint32_t found, step_.back ? before(from) : after(from));
    if (found == kNone) {
      wrapped = true;
      PROFD_TRY(found, step_.back ? last() : first());
    }
    if (found == kNone) return std::optional<FoundMatch>();
    PROFD_CHECK(tree_.expand(found, stop_));
    FoundMatch out;
    out.self = tree_.node(found).self;
    out.total = tree_.node(found).total;
    out.estimate = tree_.node(found).estimate;
    out.wrapped = wrapped;
    for (std::uint32_t at = found; at != 0; at = tree_.node(at).parent)
      out.path.push_back(tree_.node(at).key);
    std::reverse(out.path.begin(), out.path.end());
    return std::optional(std::move(out));
  }

 private:
  [[nodiscard]] bool is_within(std::uint32_t node) const {
    while (node != within_ && node != 0) node = tree_.node(node).parent;
    return node == within_;
  }
  [[nodiscard]] bool is_match(std::uint32_t node) const {
    const Key key = tree_.node(node).key;
    return key != kNone && matches_.matches(key);
  }

  Result<std::uint32_t> first() {
    if (is_match(within_)) return within_;
    return after(within_);
  }
  Result<std::uint32_t> last() {
    PROFD_TRY(const std::uint32_t below, last_below(within_));
    if (below != kNone) return below;
    return is_match(within_) ? within_ : kNone;
  }

  Result<std::uint32_t> after(std::uint32_t at) {
    for (bool down = true;;) {
      if (!down && at == within_) return kNone;
      const std::uint32_t parent = down ? at : tree_.node(at).parent;
      PROFD_TRY(const std::uint32_t next, sibling(parent, down ? kNone : at, false));
      if (next != kNone) {
        if (is_match(next)) return next;
        at = next;
        down = true;
      } else if (down) {
        down = false;
      } else {
        at = parent;
      }
    }
  }

  Result<std::uint32_t> before(std::uint32_t at) {
    while (at != within_) {
      const std::uint32_t parent = tree_.node(at).parent;
      PROFD_TRY(const std::uint32_t previous, sibling(parent, at, true));
      if (previous != kNone) {
        PROFD_TRY(const std::uint32_t below, last_below(previous));
        if (below != kNone) return below;
        if (is_match(previous)) return previous;
        at = previous;
      } else {
        if (is_match(parent)) return parent;
        at = parent;
      }
    }
    return kNone;
  }

  Result<std::uint32_t> last_below(std::uint32_t top) {
    std::uint32_t at = top;
    while (true) {
      PROFD_TRY(const std::uint32_t next, sibling(at, kNone, true));
      if (next == kNone) break;
      at = next;
    }
    return at != top && is_match(at) ? at : kNone;
  }

  // Of the children of `parent` the next one, or the one before, that matches or leads to a match; from the
  // end that comes first when `from` is kNone.
  Result<std::uint32_t> sibling(std::uint32_t parent, std::uint32_t from, bool back) {
    PROFD_CHECK(tree_.expand(parent, stop_));
    const std::vector<std::uint32_t>& order = ordered(parent);
    const auto n = static_cast<std::uint32_t>(order.size());
    std::uint32_t at = back ? n : kNone;  // one more is the first
    if (from != kNone)
      at = static_cast<std::uint32_t>(std::find(order.begin(), order.end(), from) - order.begin());
    while (true) {
      if (back ? at == 0 : at + 1 == n) return kNone;
      at = back ? at - 1 : at + 1;
      PROFD_TRY(const bool has, tree_.has_match(order[at], matches_, stop_));
      if (has) return order[at];
    }
  }

  const std::vector<std::uint32_t>& ordered(std::uint32_t parent) {
    const auto& of = tree_.node(parent);
    order_.resize(of.n_children);
    std::iota(order_.begin(), order_.end(), of.first_child);
    if (step_.order == SiblingOrder::weight)
      std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
        if (tree_.node(a).width != tree_.node(b).width) return tree_.node(a).width > tree_.node(b).width;
        return a < b;
      });
    return order_;
  }

  UnfoldedTree<T>& tree_;
  const MatchMarks& matches_;
  const MatchStep& step_;
  StopToken& stop_;
  std::uint32_t within_ = 0;
  std::vector<std::uint32_t> order_;
};

}  // namespace

Result<std::optional<FoundMatch>> step_to_match(const Selection& selection, const MatchMarks& matches,
                                                const MatchStep& step, StopToken stop) {
  return selection.memo->with_tree(selection, step.shape, step.focus, stop,
                                   [&]<class T>(UnfoldedTree<T>& tree, StopToken& while_held) {
                                     return MatchWalk<T>(tree, matches, step, while_held).go();
                                   });
}

}  // namespace profd
