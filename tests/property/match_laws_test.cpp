// The laws of matches: what a layout shows of a search and what it hides are together what the search says,
// and steps reach every match once, in the order of the picture.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/layout/match_step.h"
#include "core/view/key_index.h"
#include "core/view/key_memo.h"
#include "core/view/match_marks.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

using KeyPath = std::vector<Key>;

// A view unfolded as a whole, with the matches of a random pattern.
struct Searched {
  SelectionPtr selection;
  MatchMarks marks;
  LayoutRequest request;  // of everything
  FlameLayout whole;
  std::vector<KeyPath> path;                      // by box
  std::vector<std::vector<std::uint32_t>> below;  // children by box, from left to right
  std::map<KeyPath, std::uint32_t> box_at;

  [[nodiscard]] bool matches(std::uint32_t box) const { return box != 0 && marks.matches(whole.key[box]); }
};

std::string some_pattern(const Case& c, Rng& rng) {
  std::vector<std::string> names;
  for (const PlainStack& stack : c.stacks)
    for (const PlainFrame& frame : stack.frames) names.push_back(frame.function);
  std::string pattern = names.empty() ? "nothing" : names[below(rng, names.size())];
  if (!names.empty() && chance(rng, 0.4)) pattern += "|" + names[below(rng, names.size())];
  return chance(rng, 0.1) ? "." : pattern;
}

bool needs_focus(Shape shape) {
  return shape == Shape::callers || shape == Shape::callees;
}

std::optional<Searched> search_in(const Case& c, SiblingOrder order) {
  Rng rng(c.seed ^ 0x5EA5C4);
  Searched s;
  s.selection = *select(build(c), c.spec, {});
  s.request.shape = c.spec.shape;
  if (needs_focus(c.spec.shape)) s.request.focus = focus_keys(*s.selection, c.spec);
  if (needs_focus(c.spec.shape) && s.request.focus.empty()) return std::nullopt;
  s.request.min_width_px = 0;
  s.request.max_boxes = 5000;
  s.request.order = order;
  SerialExecutor serial;
  StopToken stop;
  if (chance(rng, 0.5) && !s.selection->boxes->memo->key_index(*s.selection->boxes, true, stop))
    FAIL("no index of contexts");
  auto found = search(*s.selection, some_pattern(c, rng), {});
  if (!found) FAIL(found.error().message);
  const bool above = c.spec.shape == Shape::bottom_up || c.spec.shape == Shape::callers;
  s.marks =
      *mark_matches(*s.selection, std::make_shared<const SearchResult>(std::move(*found)), above, {}, serial);
  s.whole = *layout_flame(*s.selection, s.request, {});
  // What is asked of it from here on finds nothing unfolded by this.
  s.selection = *select(s.selection->profile, c.spec, {});
  if (s.whole.truncated) FAIL("a case of this size is meant to fit");
  s.path.resize(s.whole.size());
  s.below.resize(s.whole.size());
  for (std::uint32_t i = 0; i < s.whole.size(); ++i) {
    if (i > 0) {
      s.path[i] = s.path[s.whole.parent[i]];
      s.path[i].push_back(s.whole.key[i]);
      s.below[s.whole.parent[i]].push_back(i);
    }
    s.box_at[s.path[i]] = i;
  }
  return s;
}

struct Held {
  bool any = false;
  std::int64_t total = 0;
};
Held held_at(const Case& c, const Searched& s, std::uint32_t box) {
  if (s.matches(box)) return {true, units(c, s.whole.total[box])};
  Held out;
  for (const std::uint32_t child : s.below[box]) {
    const Held inside = held_at(c, s, child);
    out.any = out.any || inside.any;
    out.total += inside.total;
  }
  return out;
}

std::string check_window(const Case& c, const Searched& s, const FlameLayout& l, const KeyPath& zoom) {
  std::vector<KeyPath> path(l.size());
  std::map<KeyPath, int> shown;
  for (std::uint32_t i = 0; i < l.size(); ++i) {
    if (l.parent[i] != kNone) path[i] = path[l.parent[i]];
    if (l.parent[i] != kNone && l.n_merged[i] == 0) path[i].push_back(l.key[i]);
    if (l.n_merged[i] == 0) shown[path[i]] = 1;
  }
  for (std::uint32_t i = 0; i < l.size(); ++i) {
    if (l.n_merged[i] == 0 && l.more[i] == 0) {
      if (l.n_matched[i] != 0 || units(c, l.matched[i]) != 0) return "a box with children hides matches";
      continue;
    }
    std::uint32_t n = 0;
    std::int64_t total = 0;
    for (const std::uint32_t child : s.below[s.box_at.at(path[i])]) {
      if (shown.count(s.path[child]) != 0) continue;
      const Held held = held_at(c, s, child);
      n += held.any ? 1 : 0;
      total += held.total;
    }
    if (l.n_matched[i] != n) return fmt::format("{} boxes lead to a match, not {}", n, l.n_matched[i]);
    if (units(c, l.matched[i]) != total)
      return fmt::format("{} match among the hidden, not {}", total, units(c, l.matched[i]));
  }
  const std::uint32_t zoomed = s.box_at.at(zoom);
  bool above = false;
  for (std::uint32_t at = zoomed; at != 0; at = s.whole.parent[at]) above = above || s.matches(at);
  const std::int64_t expected = above ? units(c, s.whole.total[zoomed]) : held_at(c, s, zoomed).total;
  const std::int64_t told = units(c, l.matched_shown) + units(c, l.matched_hidden);
  if (told != expected) return fmt::format("shown and hidden are {}, not {}", told, expected);
  const bool all = zoom.empty() && !needs_focus(c.spec.shape);
  if (all && told != units(c, s.marks.found->matched))
    return fmt::format("shown and hidden are {}, the search says {}", told, units(c, s.marks.found->matched));
  return "";
}

// Boxes that match, in the order of the picture.
void list_matches(const Searched& s, std::uint32_t box, std::vector<KeyPath>& out) {
  if (s.matches(box)) out.push_back(s.path[box]);
  for (const std::uint32_t child : s.below[box]) list_matches(s, child, out);
}

std::string check_steps(const Searched& s, bool back, SiblingOrder order, const KeyPath& within) {
  std::vector<KeyPath> expected;
  list_matches(s, s.box_at.at(within), expected);
  if (back) std::reverse(expected.begin(), expected.end());
  MatchStep step;
  step.shape = s.request.shape;
  step.focus = s.request.focus;
  step.back = back;
  step.order = order;
  step.within = within;
  // Going back, the last one comes first, and so does a box that is itself the first in the picture.
  step.from = within;
  const bool moved = !expected.empty() && !back && expected.front() == within;
  if (moved) step.from = expected.back();
  for (std::size_t i = 0; i <= expected.size(); ++i) {
    const auto found = step_to_match(*s.selection, s.marks, step, {});
    if (!found) return found.error().message;
    if (found->has_value() != !expected.empty()) return "there is a match, or there is none";
    if (!*found) return "";
    const std::size_t at = i % expected.size();
    if ((*found)->path != expected[at]) return fmt::format("step {} leads elsewhere", i);
    const std::uint32_t box = s.box_at.at(expected[at]);
    if ((*found)->total != s.whole.total[box] || (*found)->self != s.whole.self[box]) return "a wrong value";
    const bool began_anew = i == expected.size() || (i == 0 && (back || moved));
    if ((*found)->wrapped != began_anew) return fmt::format("step {} tells wrongly that it began anew", i);
    step.from = (*found)->path;
  }
  return "";
}

void no_flat(Case& c) {
  if (c.spec.shape == Shape::flat) c.spec.shape = Shape::top_down;
}

}  // namespace

TEST_CASE("law: matches shown and matches hidden are together what a search says") {
  check_law(
      [](const Case& c) -> std::string {
        Rng rng(c.seed ^ 0xFEED);
        auto s = search_in(c, chance(rng, 0.5) ? SiblingOrder::name : SiblingOrder::weight);
        if (!s) return "";
        LayoutRequest request = s->request;
        request.matches = &s->marks;
        request.viewport_px = static_cast<double>(1 + below(rng, 200));
        request.min_width_px = chance(rng, 0.3) ? 0 : static_cast<double>(below(rng, 40)) / 4;
        request.max_boxes = chance(rng, 0.5) ? 4000 : static_cast<std::uint32_t>(1 + below(rng, 20));
        request.max_depth = chance(rng, 0.6) ? 0 : static_cast<std::uint32_t>(1 + below(rng, 4));
        if (chance(rng, 0.5)) request.zoom = s->path[below(rng, s->path.size())];
        // On what was unfolded as a whole above, and on what nobody looked at yet.
        for (const bool fresh : {false, true}) {
          if (fresh) s->selection = *select(build(c), c.spec, {});
          // The second time what was found is remembered.
          for (int time = 0; time < 2; ++time) {
            const auto layout = layout_flame(*s->selection, request, {});
            if (!layout) return layout.error().message;
            LayoutRequest boxes = request;
            boxes.matches = nullptr;
            boxes.search = s->marks.found.get();
            if (layout_flame(*s->selection, boxes, {})->matched_shown != layout->matched_shown)
              return "boxes alone say something else of what is shown";
            const std::string wrong = check_window(c, *s, *layout, request.zoom);
            if (!wrong.empty()) return wrong;
          }
        }
        return "";
      },
      no_flat);
}

TEST_CASE("law: steps reach every match once, in the order of the picture") {
  check_law(
      [](const Case& c) -> std::string {
        Rng rng(c.seed ^ 0x57E9);
        const SiblingOrder order = chance(rng, 0.5) ? SiblingOrder::name : SiblingOrder::weight;
        auto s = search_in(c, order);
        if (!s) return "";
        const KeyPath within = chance(rng, 0.6) ? KeyPath() : s->path[below(rng, s->path.size())];
        const bool back = chance(rng, 0.5);
        for (const bool fresh : {false, true}) {
          if (fresh) s->selection = *select(build(c), c.spec, {});
          const std::string wrong = check_steps(*s, back, order, within);
          if (!wrong.empty()) return wrong;
        }
        return "";
      },
      no_flat);
}
