// The laws of comparing two profiles without merging them: each path has both sides' own values, whichever
// side it is of.
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/view/column_tree.h"
#include "core/view/measure.h"
#include "core/view/memo.h"
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
PairedPaths numbers_of(ColumnTree& tree, const std::array<Case, 2>& cases) {
  const std::vector<oracle::Path> paths = paths_of(tree);
  PairedPaths out;
  for (std::uint32_t id = 0; id < paths.size(); ++id)
    for (const Side side : kSides) {
      const std::size_t i = index_of(side);
      Numbers& numbers = out[paths[id]][i];
      numbers.total += units(cases[i], tree.total(id, i));
      numbers.self += units(cases[i], tree.self(id, i));
      numbers.there = numbers.there || tree.has(id, i);
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

std::vector<Key> joint_focus(const ComparisonPtr& comparison, const ViewSpec& spec) {
  std::vector<Key> keys;
  for (const std::string& name : spec.focus) {
    const std::size_t before = keys.size();
    for (Key joint = 0; joint < comparison->joint.n_keys() && keys.size() == before; ++joint)
      if (oracle_name(columns_of(comparison), joint) == name) keys.push_back(joint);
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
    focus = joint_focus(comparison, c.spec);
    if (focus.empty()) return expected.size() == 1 ? "" : "the keys of the focus are missing";
  }
  StopToken stop;
  auto tree = ColumnTree::make(columns_of(comparison), shape, focus, stop);
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
    const ComparisonPtr ab = compared(a, b), ba = compared(b, a), aa = compared(a, a);
    auto there = ColumnTree::make(columns_of(ab), Shape::top_down, {}, stop);
    auto back = ColumnTree::make(columns_of(ba), Shape::top_down, {}, stop);
    auto self = ColumnTree::make(columns_of(aa), Shape::top_down, {}, stop);
    if (!there || !back || !self) return "make fails";
    PairedPaths mirrored = numbers_of(*back, {b, a});
    for (auto& [path, numbers] : mirrored) std::swap(numbers[0], numbers[1]);
    if (const std::string wrong = compare_paths(mirrored, numbers_of(*there, {a, b})); !wrong.empty())
      return wrong;
    numbers_of(*self, {a, a});
    for (std::uint32_t id = 0; id < self->size(); ++id)
      if (self->change(id, 0, 1) != Change::same) return "a profile differs from itself";
    return "";
  });
}

TEST_CASE("law: columns of other rows have the paths and values of each, and a box wherever one has one") {
  check_law([](const Case& c) -> std::string {
    // The second column has what some filters of the first leave out.
    ViewSpec spec = c.spec;
    std::erase_if(spec.filters, [](const Filter& filter) { return filters_rows(filter); });
    const ProfilePtr profile = build(c);
    const auto all = select(profile, spec, {});
    ViewSpec some_of_it = spec;
    Filter& keep = some_of_it.filters.emplace_back();
    keep.op = FilterOp::keep;
    keep.by = FilterBy::function;
    keep.pattern = c.stacks.empty() || c.stacks[0].frames.empty() ? "f" : c.stacks[0].frames[0].function;
    auto some = select(profile, some_of_it, {});
    if (!all || !some) return "select fails";
    // Without a cache, boxes are made for each; what is the same is shared as the cache would.
    auto shared = std::make_shared<Selection>(**some);
    shared->boxes = (*all)->boxes;
    shared->memo = std::make_shared<ViewMemo>();
    const auto columns = columns_of({*all, shared});
    if (!columns) return columns.error().message;
    for (const Shape shape : {Shape::top_down, Shape::bottom_up}) {
      StopToken stop;
      auto tree = ColumnTree::make(*columns, shape, {}, stop);
      if (!tree) return tree.error().message;
      const std::vector<oracle::Path> paths = paths_of(*tree);
      std::array<SumsByPath, 2> found;
      for (std::uint32_t id = 0; id < paths.size(); ++id)
        for (std::size_t column = 0; column < 2; ++column) {
          found[column][paths[id]].total += units(c, tree->total(id, column));
          found[column][paths[id]].self += units(c, tree->self(id, column));
          if (id != 0 && !tree->has(id, 0) && !tree->has(id, 1)) return show(paths[id]) + " is nobody's";
        }
      for (std::size_t column = 0; column < 2; ++column) {
        drop_zeros(found[column]);
        SumsByPath expected = sums_by_path(c.stacks, column == 0 ? spec : some_of_it, shape);
        drop_zeros(expected);
        if (auto wrong = difference(found[column], expected); !wrong.empty()) return wrong;
      }
    }
    return "";
  });
}

TEST_CASE("law: the flat tables of two sides side by side have the rows and values of both") {
  check_law([](const Case& c) -> std::string {
    const Case b = another_run(c);
    const Columns columns = columns_of(compared(c, b));
    const auto rows = flat_columns(columns, {});
    if (!rows) return rows.error().message;
    const std::array<Case, 2> cases{c, b};
    for (std::size_t column = 0; column < 2; ++column) {
      SumsByPath found;
      for (std::size_t row = 0; row < rows->key.size(); ++row) {
        BoxSums& sums = found[{oracle_name(columns, rows->key[row])}];
        sums.total += units(cases[column], rows->total[column][row]);
        sums.self += units(cases[column], rows->self[column][row]);
        if (rows->present[0][row] + rows->present[1][row] == 0) return "a row is nobody's";
      }
      SumsByPath expected;
      for (const auto& [name, sums] : oracle::flat_of(cases[column].stacks, cases[column].spec))
        expected[{name}] = {sums.total, sums.self};
      drop_zeros(found);
      drop_zeros(expected);
      if (auto wrong = difference(found, expected); !wrong.empty()) return wrong;
    }
    return "";
  });
}

TEST_CASE("law: a measure that is a sum of metrics is the sum of its parts at every box") {
  check_law([](const Case& c) -> std::string {
    Case a = c, b = another_run(c);
    const ComparisonPtr comparison = compared(a, b);
    StopToken stop;
    auto tree = ColumnTree::make(columns_of(comparison), Shape::top_down, {}, stop);
    if (!tree) return tree.error().message;
    const auto measure =
        parse_measure("3 * after - before / 2", std::vector<MetricInfo>{{"after", "u"}, {"before", "u"}});
    if (!measure || !measure->additive) return "no sum";
    const auto value = [&](std::uint32_t id, bool self) {
      const auto number = [&](std::size_t column) {
        return std::optional(as_double(self ? tree->self(id, column) : tree->total(id, column)));
      };
      return *value_of(*measure, std::array{number(1), number(0)});
    };
    const std::size_t n = paths_of(*tree).size();
    for (std::uint32_t id = 0; id < n; ++id) {
      double sum = value(id, true);
      for (std::uint32_t i = 0; i < tree->node(id).n_children; ++i)
        sum += value(tree->node(id).first_child + i, false);
      if (std::fabs(sum - value(id, false)) > 1e-6)
        return fmt::format("{} in place of {}", sum, value(id, false));
    }
    return "";
  });
}
