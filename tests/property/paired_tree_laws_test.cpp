// The laws of comparing two profiles without merging them: each path has both sides' own values, whichever
// side it is of.
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/view/paired_tree.h"
#include "tests/support/box_paths.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

struct Numbers {
  std::int64_t total = 0, self = 0;
  bool there = false;
  bool operator==(const Numbers&) const = default;
};
using PairedPaths = std::map<oracle::Path, std::array<Numbers, 2>>;

// All of the tree. Nodes of one name are several keys where a collapsed group is called like a function.
PairedPaths numbers_of(PairedTree& tree, const std::array<Case, 2>& cases) {
  const std::vector<oracle::Path> paths = paths_of(tree);
  PairedPaths out;
  for (std::uint32_t id = 0; id < paths.size(); ++id)
    for (const Side side : kSides) {
      const std::size_t i = index_of(side);
      Numbers& numbers = out[paths[id]][i];
      numbers.total += units(cases[i], tree.total(id, side));
      numbers.self += units(cases[i], tree.self(id, side));
      numbers.there = numbers.there || tree.node(id).in[i] != kNone;
    }
  return out;
}

PairedPaths numbers_of(const std::array<Case, 2>& cases, Shape shape) {
  PairedPaths out;
  out[{}];
  for (const Side side : kSides) {
    const std::size_t i = index_of(side);
    ViewSpec spec = cases[i].spec;
    spec.shape = shape;
    for (const auto& [path, sums] : oracle::tree_of(cases[i].stacks, spec))
      out[path][i] = {sums.total, sums.self, true};
  }
  return out;
}

std::string compare_paths(PairedPaths found, PairedPaths expected) {
  // The root is there on either side whose profile has the focus, with or without a value.
  for (PairedPaths* paths : {&found, &expected})
    for (Numbers& numbers : (*paths)[{}]) numbers.there = false;
  for (const auto& [path, numbers] : expected) {
    const auto at = found.find(path);
    if (at == found.end()) return show(path) + " is missing";
    for (const Side side : kSides) {
      const Numbers &is = at->second[index_of(side)], &should = numbers[index_of(side)];
      if (is != should)
        return fmt::format("{} {}: total {} self {} there {}, expected {} {} {}", show(path),
                           side == Side::before ? "before" : "after", is.total, is.self, is.there,
                           should.total, should.self, should.there);
    }
  }
  for (const auto& [path, numbers] : found)
    if (!expected.contains(path)) return show(path) + " should not be there";
  return "";
}

ComparisonPtr compared(const Case& a, const Case& b) {
  const auto before = select(build(a), a.spec, {}), after = select(build(b), b.spec, {});
  if (!before || !after) FAIL("select fails");
  const auto comparison = compare(*before, *after, {});
  if (!comparison) FAIL(comparison.error().message);
  return *comparison;
}

std::vector<Key> joint_focus(const Comparison& comparison, const ViewSpec& spec) {
  std::vector<Key> keys;
  for (const std::string& name : spec.focus) {
    const std::size_t before = keys.size();
    for (Key joint = 0; joint < comparison.joint.n_keys() && keys.size() == before; ++joint)
      if (oracle_name(comparison, joint) == name) keys.push_back(joint);
    if (keys.size() == before) return {};
  }
  return keys;
}

std::string compare_shape(const Case& c, Shape shape) {
  const Case a = c, b = another_run(c);
  const ComparisonPtr comparison = compared(a, b);
  std::vector<Key> focus;
  const PairedPaths expected = numbers_of({a, b}, shape);
  if (shape == Shape::callers || shape == Shape::callees) {
    focus = joint_focus(*comparison, c.spec);
    if (focus.empty()) return expected.size() == 1 ? "" : "the keys of the focus are missing";
  }
  StopToken stop;
  auto tree = PairedTree::make(comparison, shape, focus, stop);
  if (!tree) return tree.error().message;
  return compare_paths(numbers_of(*tree, {a, b}), expected);
}

}  // namespace

TEST_CASE("law: two profiles compared top-down have the paths and values of both") {
  check_law([](const Case& c) { return compare_shape(c, Shape::top_down); });
}
TEST_CASE("law: two profiles compared bottom-up have the paths and values of both") {
  check_law([](const Case& c) { return compare_shape(c, Shape::bottom_up); });
}
TEST_CASE("law: two profiles compared by callers have the paths and values of both") {
  check_law([](const Case& c) { return compare_shape(c, Shape::callers); });
}
TEST_CASE("law: two profiles compared by callees have the paths and values of both") {
  check_law([](const Case& c) { return compare_shape(c, Shape::callees); });
}

TEST_CASE(
    "law: swapping the sides of a comparison mirrors its changes, and a profile is the same as itself") {
  check_law([](const Case& c) -> std::string {
    const Case a = c, b = another_run(c);
    StopToken stop;
    auto there = PairedTree::make(compared(a, b), Shape::top_down, {}, stop);
    auto back = PairedTree::make(compared(b, a), Shape::top_down, {}, stop);
    auto self = PairedTree::make(compared(a, a), Shape::top_down, {}, stop);
    if (!there || !back || !self) return "make fails";
    PairedPaths mirrored = numbers_of(*back, {b, a});
    for (auto& [path, numbers] : mirrored) std::swap(numbers[0], numbers[1]);
    if (const std::string wrong = compare_paths(mirrored, numbers_of(*there, {a, b})); !wrong.empty())
      return wrong;
    numbers_of(*self, {a, a});
    for (std::uint32_t id = 0; id < self->size(); ++id)
      if (self->change(id) != Change::same) return "a profile differs from itself";
    return "";
  });
}
