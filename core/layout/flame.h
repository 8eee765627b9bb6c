// Flame-graph layout: the part of a view that fits a viewport, as columns of boxes.
// Widths are exact metric units; children lie inside their parent in stable order, and what is narrower than
// the threshold is joined into one remainder box a parent that says how many and how much.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/view/selection.h"

namespace profd {

struct MatchMarks;
struct SearchResult;

enum class SiblingOrder : std::uint8_t { name, weight };

struct LayoutRequest {
  Shape shape = Shape::top_down;  // top_down, bottom_up, callers, callees
  std::vector<Key> focus;         // callers / callees: the fragment as keys
  std::vector<Key> zoom;          // path from the view's root to the box that fills the width; empty = all
  double viewport_px = 1200;
  double min_width_px = 0.5;
  std::uint32_t max_boxes = 1800;  // an answer with a search stays below 300 KB with long names; at most 5000
  std::uint32_t max_depth = 0;     // rows below the zoomed box; 0 = as deep as the data
  SiblingOrder order = SiblingOrder::name;
  const SearchResult* search = nullptr;  // how much goes through the boxes that match and are here
  const MatchMarks* matches = nullptr;   // of a search: also how much of what is not here matches
};

inline constexpr std::uint32_t kNoKey = 0xFFFFFFFFu;

// Row i of every column is box i. Boxes are in breadth-first order: row by row, each from left to right.
// Children stand side by side from their parent's left edge and the remainder box comes last; what is left of
// the parent's width is its self. In bottom-up and callers, self is what starts at the box ("no caller"). In
// callers and callees the root box is the fragment itself.
struct FlameLayout {
  std::vector<std::uint32_t> parent;    // box number; kNone for the root box
  std::vector<std::uint32_t> depth;     // ancestors of the zoomed box come first, at full width
  std::vector<Key> key;                 // kNoKey: the root box, or a remainder box
  std::vector<Value> x, width;          // metric units, x from the left edge of the zoomed box
  std::vector<Value> self, total;       // signed values; total equals width unless values are negative. A
                                        // remainder's self is 0: it is not looked into
  std::vector<std::uint32_t> n_merged;  // remainder boxes: how many siblings; else 0
  std::vector<FrameKind> kind;
  std::vector<std::uint8_t> inlined;
  std::vector<std::uint8_t> more;  // has children, none of which is here: a bound was reached
  std::vector<Estimate> estimate;  // of self and total; empty: all exact
  bool divided = false;            // see Selection::divided
  // With `matches`, else empty. Remainder boxes: how many of the joined boxes match or lead to a match. Boxes
  // with `more`: how many of their children. Else 0.
  std::vector<std::uint32_t> n_matched;
  std::vector<Value> matched;  // the stacks with a match in these, each once, whatever matches above them
  // Of the zoomed box, each stack once: through a match that is here (with `search` or `matches`), and
  // through hidden matches alone (with `matches`).
  Value matched_shown, matched_hidden;
  Value total_width;          // of the zoomed box
  bool truncated = false;     // max_boxes was reached: some boxes' children are not shown
  std::uint32_t deepest = 0;  // rows in this answer
  std::size_t size() const { return key.size(); }
  std::size_t memory() const {
    return sizeof(FlameLayout) + estimate.size() +
           size() * (5 * sizeof(Value) + 5 * sizeof(std::uint32_t) + 3);
  }
};

// Work is proportional to what is shown, not to the profile, once the selection is there; what one request
// unfolds the next finds unfolded (Selection::memo). Fails with `not_found` where the zoom does not exist.
Result<FlameLayout> layout_flame(const Selection& selection, const LayoutRequest& request, StopToken stop);

}  // namespace profd
