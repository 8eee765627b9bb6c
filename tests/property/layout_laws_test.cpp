// The laws of layouts: boxes of any window and threshold against the whole tree of the oracle.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "core/layout/flame.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

// A random window onto the case's view.
struct Window {
  LayoutRequest request;
  oracle::Path zoom;
};

bool needs_focus(Shape shape) {
  return shape == Shape::callers || shape == Shape::callees;
}

oracle::Tree whole_tree(const Case& c) {
  return oracle::tree_of(c.stacks, c.spec);
}

std::vector<Key> keys_of(const Selection& selection, const oracle::Path& path) {
  ViewSpec spec;
  spec.focus = path;
  return focus_keys(selection, spec);
}

Window random_window(const Case& c, const oracle::Tree& tree, const Selection& selection) {
  Rng rng(c.seed ^ 0xABCDEF);
  Window w;
  w.request.shape = c.spec.shape;
  if (needs_focus(c.spec.shape)) w.request.focus = focus_keys(selection, c.spec);
  w.request.viewport_px = static_cast<double>(1 + below(rng, 200));
  w.request.min_width_px = chance(rng, 0.3) ? 0 : static_cast<double>(below(rng, 40)) / 4;
  w.request.max_boxes = chance(rng, 0.5) ? 4000 : static_cast<std::uint32_t>(1 + below(rng, 20));
  w.request.max_depth = chance(rng, 0.7) ? 0 : static_cast<std::uint32_t>(1 + below(rng, 4));
  w.request.order = chance(rng, 0.5) ? SiblingOrder::name : SiblingOrder::weight;
  if (!tree.empty() && chance(rng, 0.5)) {
    auto at = tree.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(below(rng, tree.size())));
    w.zoom = at->first;
    w.request.zoom = keys_of(selection, w.zoom);
  }
  return w;
}

struct Children {
  std::size_t n = 0;
  std::int64_t total = 0, width = 0;
};

Children children_in(const oracle::Tree& tree, const oracle::Path& path) {
  Children out;
  for (auto at = tree.upper_bound(path); at != tree.end(); ++at) {
    if (at->first.size() <= path.size() || !std::equal(path.begin(), path.end(), at->first.begin())) break;
    if (at->first.size() != path.size() + 1) continue;
    ++out.n;
    out.total += at->second.total;
    out.width += at->second.width;
  }
  return out;
}

std::string check_layout(const Case& c, const Selection& selection, const oracle::Tree& tree, const Window& w,
                         const FlameLayout& l) {
  const auto number = [&](const Value& v) { return units(c, v); };
  if (l.size() > w.request.max_boxes && l.size() > w.zoom.size() + 1) return "more boxes than asked for";
  std::vector<oracle::Path> path(l.size());
  std::vector<Children> shown(l.size());
  std::vector<std::int64_t> right_edge(l.size());
  const auto zoomed = w.zoom.size();
  const std::int64_t zoomed_width = number(l.total_width);
  const double threshold =
      static_cast<double>(zoomed_width) * (w.request.min_width_px / w.request.viewport_px);
  for (std::size_t i = 0; i < l.size(); ++i) {
    const std::int64_t x = number(l.x[i]), width = number(l.width[i]), total = number(l.total[i]);
    right_edge[i] = x;  // of the children placed so far
    if (i == 0) {
      if (l.parent[i] != kNone || l.depth[i] != 0 || x != 0) return "the first box is not the root";
    } else {
      const std::size_t parent = l.parent[i];
      if (parent >= i || l.depth[i] != l.depth[parent] + 1) return "a box comes before its parent";
      if (l.depth[i] < l.depth[i - 1]) return "rows are not in order";
      if (l.depth[i] == l.depth[i - 1] && i > zoomed && x < number(l.x[i - 1]))
        return "a row is not left to right";
      if (x != right_edge[parent]) return "siblings do not stand side by side";
      right_edge[parent] = x + width;
      if (right_edge[parent] > number(l.x[parent]) + number(l.width[parent]))
        return "a box leaves its parent";
      path[i] = path[parent];
      if (i > zoomed) {
        ++shown[parent].n;
        shown[parent].total += total;
        shown[parent].width += width;
      }
    }
    if (l.n_merged[i] != 0) {
      const Children all = children_in(tree, path[l.parent[i]]);
      Children& parts = shown[l.parent[i]];
      parts.n += l.n_merged[i] - 1;
      if (parts.n != all.n || parts.width != all.width || parts.total != all.total)
        return fmt::format("a remainder of {} boxes, width {}, does not make up for what is left out",
                           l.n_merged[i], width);
      continue;
    }
    if (i > 0) path[i].push_back(oracle_name(selection, l.key[i]));
    const auto expected = tree.find(path[i]);
    if (expected == tree.end()) {
      if (tree.empty() && i == 0 && total == 0) continue;
      return "a box that no stack goes through";
    }
    const oracle::Sums& sums = expected->second;
    if (total != sums.total || number(l.self[i]) != sums.self) return "a box with a wrong total or self";
    if (i <= zoomed ? width != zoomed_width : width != sums.width) return "a box with a wrong width";
    if (i > zoomed && static_cast<double>(width) < threshold) return "a box below the threshold";
  }
  for (std::size_t i = zoomed; i < l.size() && !tree.empty(); ++i) {
    if (l.n_merged[i] != 0) continue;
    const bool at_bottom = w.request.max_depth > 0 && l.depth[i] - zoomed >= w.request.max_depth;
    const Children all = children_in(tree, path[i]);
    if (shown[i].n == 0 && (at_bottom || l.truncated)) continue;
    if (at_bottom) return "a box below the last row";
    if (shown[i].n != all.n || shown[i].total != all.total || shown[i].width != all.width)
      return "the children of a box are not all accounted for";
  }
  return "";
}

}  // namespace

TEST_CASE("law: boxes of any window are exact, inside their parents and complete") {
  check_law(
      [](const Case& c) -> std::string {
        const auto selection = *select(build(c), c.spec, {});
        const oracle::Tree tree = whole_tree(c);
        const Window w = random_window(c, tree, *selection);
        if (needs_focus(c.spec.shape) && w.request.focus.empty()) return "";
        // A window is opened after others have been: what they unfolded must not show.
        for (int round = 0; round < 2; ++round) {
          const auto layout = layout_flame(*selection, w.request, {});
          if (!layout) return layout.error().message;
          const std::string wrong = check_layout(c, *selection, tree, w, *layout);
          if (!wrong.empty()) return wrong;
          LayoutRequest everything = w.request;
          everything.zoom.clear();
          everything.min_width_px = 0;
          if (!layout_flame(*selection, everything, {})) return "the whole view fails";
        }
        return "";
      },
      [](Case& c) {
        if (c.spec.shape == Shape::flat) c.spec.shape = Shape::top_down;
      });
}

TEST_CASE("law: a zoomed layout is the part of the whole below that box") {
  check_law(
      [](const Case& c) -> std::string {
        const auto selection = *select(build(c), c.spec, {});
        LayoutRequest request;
        request.shape = c.spec.shape;
        if (needs_focus(c.spec.shape)) request.focus = focus_keys(*selection, c.spec);
        if (needs_focus(c.spec.shape) && request.focus.empty()) return "";
        request.min_width_px = 0;
        request.max_boxes = 5000;
        const auto whole = layout_flame(*selection, request, {});
        Rng rng(c.seed);
        const std::size_t box = below(rng, whole->size());
        for (std::size_t at = box; at != 0; at = whole->parent[at])
          request.zoom.insert(request.zoom.begin(), whole->key[at]);
        const auto zoomed = layout_flame(*selection, request, {});
        if (!zoomed) return zoomed.error().message;
        std::size_t next = request.zoom.size();
        std::vector<std::uint8_t> below_box(whole->size(), 0);
        below_box[box] = 1;
        for (std::size_t i = box; i < whole->size(); ++i) {
          if (i > box && whole->parent[i] != kNone) below_box[i] = below_box[whole->parent[i]];
          if (below_box[i] == 0) continue;
          if (next == zoomed->size()) return "the zoomed layout is too small";
          const auto x = units(c, whole->x[i]) - units(c, whole->x[box]);
          if (zoomed->key[next] != whole->key[i] || units(c, zoomed->x[next]) != x ||
              zoomed->width[next] != whole->width[i] || zoomed->depth[next] != whole->depth[i])
            return fmt::format("box {} differs when zoomed", i);
          ++next;
        }
        return next == zoomed->size() ? "" : "the zoomed layout is too large";
      },
      [](Case& c) {
        if (c.spec.shape == Shape::flat) c.spec.shape = Shape::bottom_up;
      });
}
