// The laws of the views (design section 4) against brute force on plain stacks.
#include <fmt/format.h>

#include "core/layout/flame.h"
#include "core/source/annotations.h"
#include "core/view/filtered_profile.h"
#include "core/view/hot_path.h"
#include "core/view/hottest.h"
#include "core/view/search.h"
#include "core/view/table.h"
#include "tests/support/box_paths.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

using profd::test::show;
std::string show(const std::string& name) {
  return name;
}
std::string show(std::uint32_t line) {
  return std::to_string(line);
}

template <class Map>
std::string difference(const Map& engine, const Map& oracle) {
  const auto text = [](const oracle::Sums& s) {
    return fmt::format("total {} self {} width {}", s.total, s.self, s.width);
  };
  for (const auto& [where, sums] : oracle) {
    const auto found = engine.find(where);
    if (found == engine.end()) return fmt::format("{} is missing: {}", show(where), text(sums));
    if (found->second != sums)
      return fmt::format("{}: engine {}, oracle {}", show(where), text(found->second), text(sums));
  }
  for (const auto& [where, sums] : engine) {
    if (!oracle.contains(where)) return fmt::format("{} should not be there: {}", show(where), text(sums));
  }
  return "";
}

SelectionPtr selection_of(const Case& c, const ProfilePtr& profile) {
  auto selection = select(profile, c.spec, {});
  if (!selection) FAIL(describe(c) << selection.error().message);
  return *selection;
}

// The whole tree of a shape, by way of a layout without a threshold.
oracle::Tree engine_tree(const Case& c, const Selection& selection, Shape shape,
                         const std::vector<Key>& focus) {
  const auto layout = whole_layout(selection, shape, focus);
  if (!layout) FAIL(describe(c) << layout.error().message);
  REQUIRE_FALSE(layout->truncated);
  const std::vector<oracle::Path> paths = paths_of(selection, *layout);
  oracle::Tree tree;
  for (std::size_t i = 0; i < layout->size(); ++i) {
    // Boxes of one name are several keys where a collapsed group is called like a function.
    oracle::Sums& sums = tree[paths[i]];
    sums.total += units(c, layout->total[i]);
    sums.self += units(c, layout->self[i]);
    sums.width += units(c, layout->width[i]);
  }
  if (tree[{}].width == 0) tree.erase(oracle::Path{});
  return tree;
}

std::string compare_shape(const Case& c, Shape shape) {
  ViewSpec spec = c.spec;
  spec.shape = shape;
  const auto selection = selection_of(c, build(c));
  std::vector<Key> focus;
  if (shape == Shape::callers || shape == Shape::callees) {
    focus = focus_keys(*selection, spec);
    if (focus.empty())
      return oracle::tree_of(c.stacks, spec).empty() ? "" : "the keys of the focus are missing";
  }
  return difference(engine_tree(c, *selection, shape, focus), oracle::tree_of(c.stacks, spec));
}

}  // namespace

TEST_CASE("law: top-down trees are the stacks") {
  check_law([](const Case& c) { return compare_shape(c, Shape::top_down); });
}

TEST_CASE("law: bottom-up trees are the reversed stacks") {
  check_law([](const Case& c) { return compare_shape(c, Shape::bottom_up); });
}

TEST_CASE("law: callers end at the first occurrence of the fragment") {
  check_law([](const Case& c) { return compare_shape(c, Shape::callers); });
}

TEST_CASE("law: callees begin after the last occurrence of the fragment") {
  check_law([](const Case& c) { return compare_shape(c, Shape::callees); });
}

TEST_CASE("law: callers and callees of a fragment have its total between them") {
  check_law([](const Case& c) -> std::string {
    const auto selection = selection_of(c, build(c));
    const auto focus = focus_keys(*selection, c.spec);
    if (focus.empty()) return "";
    std::int64_t expected = 0;
    for (const PlainStack& stack : c.stacks) {
      const auto boxes = oracle::boxes_of(stack, c.spec);
      const auto at = std::search(boxes.begin(), boxes.end(), c.spec.focus.begin(), c.spec.focus.end());
      if (oracle::passes(stack, c.spec) && at != boxes.end()) expected += stack.value;
    }
    for (Shape shape : {Shape::callers, Shape::callees}) {
      TreeRequest request;
      request.shape = shape;
      request.focus = focus;
      request.limit = 1000;
      const auto level = tree_level(*selection, request, {});
      if (!level) return level.error().message;
      std::int64_t sum = units(c, level->self);
      for (const Value& total : level->child_total) sum += units(c, total);
      if (sum != expected || units(c, level->total) != expected)
        return fmt::format("{}: {} by parts, {} in all, {} by the stacks", to_text(shape), sum,
                           units(c, level->total), expected);
    }
    return "";
  });
}

TEST_CASE("law: flat tables count each stack once at any granularity") {
  check_law([](const Case& c) {
    const auto selection = selection_of(c, build(c));
    const auto view = flat_view(*selection, {});
    std::map<std::string, oracle::Sums> engine;
    for (std::size_t row = 0; row < view->key.size(); ++row) {
      const std::string name = oracle_name(*selection, view->key[row]);
      engine[name] = {units(c, view->total[row]), units(c, view->self[row]), 0};
    }
    auto expected = oracle::flat_of(c.stacks, c.spec);
    for (auto& [name, sums] : expected) sums.width = 0;
    return difference(engine, expected);
  });
}

TEST_CASE("law: what passes and what does not add up to everything") {
  check_law(
      [](const Case& c) -> std::string {
        const auto profile = build(c);
        std::int64_t sum = 0, all = 0;
        for (const PlainStack& stack : c.stacks) all += stack.value;
        for (FilterOp op : {FilterOp::keep, FilterOp::drop}) {
          Case one = c;
          one.spec.filters.resize(1);
          one.spec.filters[0].op = op;
          const auto selection = selection_of(one, profile);
          sum += units(c, selection->sums->total);
          if (units(c, selection->sums->profile_total) != all) return "the total of the profile changed";
        }
        return sum == all ? "" : fmt::format("keep and drop give {}, the profile has {}", sum, all);
      },
      [](Case& c) {
        Rng rng(c.seed);
        do c.spec = random_spec(rng, c.with_samples);
        while (c.spec.filters.empty() || c.spec.filters[0].op == FilterOp::hide ||
               c.spec.filters[0].op == FilterOp::collapse);
      });
}

TEST_CASE("law: a filter twice is a filter once, and the order of filters does not matter") {
  check_law([](const Case& c) -> std::string {
    // Which group a frame falls into does depend on the order.
    const auto n_groups = std::count_if(c.spec.filters.begin(), c.spec.filters.end(), [](const Filter& f) {
      return f.op == FilterOp::collapse && f.by != FilterBy::recursion;
    });
    const auto profile = build(c);
    const auto tree = engine_tree(c, *selection_of(c, profile), Shape::top_down, {});
    Case twice = c;
    twice.spec.filters.insert(twice.spec.filters.end(), c.spec.filters.begin(), c.spec.filters.end());
    const auto again =
        difference(engine_tree(twice, *selection_of(twice, profile), Shape::top_down, {}), tree);
    if (!again.empty()) return "twice: " + again;
    if (n_groups > 1) return "";
    Case turned = c;
    std::reverse(turned.spec.filters.begin(), turned.spec.filters.end());
    const auto other =
        difference(engine_tree(turned, *selection_of(turned, profile), Shape::top_down, {}), tree);
    return other.empty() ? "" : "turned round: " + other;
  });
}

TEST_CASE("law: a selection that shares work with another is the same as one on its own") {
  check_law([](const Case& c) -> std::string {
    const auto profile = build(c);
    Rng rng(c.seed);
    Case other = c;
    other.spec = random_spec(rng, c.with_samples);
    if (chance(rng, 0.5)) other.spec.filters = c.spec.filters;
    ViewCache cache(std::size_t{1} << 30);
    const PartsOf kept(cache, 1);
    if (const auto before = select(profile, other.spec, {}, kept); !before) return before.error().message;
    const auto shared = select(profile, c.spec, {}, kept);
    if (!shared) return shared.error().message;
    return difference(engine_tree(c, **shared, Shape::bottom_up, {}),
                      engine_tree(c, *selection_of(c, profile), Shape::bottom_up, {}));
  });
}

TEST_CASE("law: the matched share counts each stack once") {
  check_law([](const Case& c) -> std::string {
    const auto selection = selection_of(c, build(c));
    const std::string text(1, static_cast<char>('a' + c.seed % 6));
    const auto found = search(*selection, text, {});
    if (!found) return found.error().message;
    // The oracle's groups are called "group x" and a file's name has letters of its own.
    ViewSpec spec = c.spec;
    std::int64_t expected = 0;
    for (const PlainStack& stack : c.stacks) {
      bool matches = false;
      for (std::string name : oracle::boxes_of(stack, spec)) {
        if (name.starts_with("group ")) name.erase(0, 6);
        matches = matches || name.find(text) != std::string::npos;
      }
      if (matches && oracle::passes(stack, spec)) expected += stack.value;
    }
    if (units(c, found->matched) == expected) return "";
    return fmt::format("\"{}\" matches {}, should match {}", text, units(c, found->matched), expected);
  });
}

TEST_CASE(
    "law: lines of a file are those of what the filters leave, each stack once, by sweep and by index") {
  check_law([](const Case& c) -> std::string {
    const auto profile = build(c);
    const auto selection = selection_of(c, profile);
    SerialExecutor serial;
    const auto index = make_line_index(*selection, {}, serial);
    for (const char* file : {"even.cc", "odd.cc"}) {
      std::vector<StringId> ids;
      for (std::uint32_t id = 0; id < profile->strings().size(); ++id) {
        if (profile->strings()[StringId{id}] == file) ids.emplace_back(id);
      }
      auto expected = oracle::lines_of(c.stacks, c.spec, file);
      for (auto& [line, sums] : expected) sums.width = 0;
      std::erase_if(expected, [](const auto& line) { return line.second == oracle::Sums{}; });
      for (const auto& lines :
           {annotate_lines(*selection, ids, {}), annotate_lines(*selection, *index, ids, {})}) {
        std::map<std::uint32_t, oracle::Sums> engine;
        for (std::size_t row = 0; row < lines->line.size(); ++row)
          engine[lines->line[row]] = {units(c, lines->total[0][row]), units(c, lines->self[0][row]), 0};
        // A line that is hidden, or whose values cancel out, may have a row or none.
        std::erase_if(engine, [](const auto& line) { return line.second == oracle::Sums{}; });
        const std::string wrong = difference(engine, expected);
        if (!wrong.empty()) return fmt::format("{} line {}", file, wrong);
      }
    }
    return "";
  });
}

TEST_CASE("law: the heaviest paths are the heaviest selves of the top-down tree") {
  check_law([](const Case& c) -> std::string {
    const auto selection = selection_of(c, build(c));
    std::vector<std::int64_t> selves;
    for (const auto& [path, sums] : oracle::tree_of(
             c.stacks, c.spec.shape == Shape::top_down ? c.spec : [&] {
               ViewSpec spec = c.spec;
               spec.shape = Shape::top_down;
               return spec;
             }()))
      if (sums.self != 0) selves.push_back(std::abs(sums.self));
    std::sort(selves.rbegin(), selves.rend());
    selves.resize(std::min<std::size_t>(selves.size(), 3));
    const auto hot = heaviest_paths(*selection, 3, {});
    std::vector<std::int64_t> found;
    for (const HeaviestPath& path : hot->paths) found.push_back(std::abs(units(c, path.self)));
    return found == selves ? ""
                           : fmt::format("{} paths, heaviest {}, expected {}", found.size(),
                                         found.empty() ? 0 : found[0], selves.empty() ? 0 : selves[0]);
  });
}

TEST_CASE("law: the hot path takes the first row of every level as long as that has half") {
  check_law([](const Case& generated) -> std::string {
    // A level does not tell the widths of its rows; without values below 0 they are the totals.
    Case c = generated;
    for (PlainStack& stack : c.stacks) stack.value = std::abs(stack.value);
    const auto selection = selection_of(c, build(c));
    for (const Shape shape : {Shape::top_down, Shape::bottom_up, Shape::callers, Shape::callees}) {
      HotPathRequest request;
      request.shape = shape;
      if (shape == Shape::callers || shape == Shape::callees) request.focus = focus_keys(*selection, c.spec);
      if (shape != Shape::top_down && shape != Shape::bottom_up && request.focus.empty()) continue;
      // From the root, then from every box on the way.
      std::vector<Key> whole;
      for (std::size_t from = 0; from <= whole.size(); ++from) {
        for (const std::size_t limit : {1u, 2u, 100u}) {
          request.from.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(from));
          request.limit = limit;
          const auto path = hot_path(*selection, request, {});
          if (!path) return path.error().message;
          std::vector<Key> at = request.from;
          HotPathEnd end = HotPathEnd::leaf;
          for (std::size_t i = 0;; ++i) {
            const auto level = tree_level(*selection, {shape, request.focus, at, 0, 1}, {});
            if (!level) return level.error().message;
            if (level->key.empty()) break;
            const std::int64_t total = units(c, level->child_total[0]);
            if (!at.empty() && total * 2 < units(c, level->total))
              end = HotPathEnd::spread;
            else if (i == limit)
              end = HotPathEnd::limit;
            if (end != HotPathEnd::leaf) break;
            at.push_back(level->key[0]);
            if (i >= path->key.size() || path->key[i] != at.back() ||
                path->total[i] != level->child_total[0] || path->self[i] != level->child_self[0] ||
                path->has_children[i] != level->has_children[0])
              return fmt::format("{}: row {} from {} is another", to_text(shape), i, from);
          }
          if (path->key.size() + from != at.size() || path->end != end)
            return fmt::format("{}: {} rows from {}, expected {}", to_text(shape), path->key.size(), from,
                               at.size() - from);
          if (from == 0) whole = at;
        }
      }
    }
    return "";
  });
}

TEST_CASE("law: what filters leave, as a profile, has the tree of the view") {
  check_law([](const Case& c) -> std::string {
    Case asked = c;
    asked.spec.shape = Shape::top_down;
    const auto profile = build(asked);
    const auto selection = selection_of(asked, profile);
    const auto filtered = filtered_profile(*selection, asked.spec, {});
    if (!filtered) return filtered.error().message;
    if (units(c, (*filtered)->total((*filtered)->default_metric())) != units(c, selection->sums->total))
      return "the totals differ";
    // By file and module the functions are called like these.
    Case plain = asked;
    plain.spec.filters.clear();
    if (plain.spec.granularity == Granularity::file || plain.spec.granularity == Granularity::module)
      plain.spec.granularity = Granularity::function;
    // Values of frames that became one may cancel out: widths are no law here, nor boxes without a value. A
    // group and a function of one name are one here.
    const auto without_widths = [](const oracle::Tree& tree) {
      oracle::Tree out;
      for (const auto& [path, sums] : tree) {
        oracle::Path names = path;
        for (std::string& name : names)
          if (name.starts_with("group ")) name.erase(0, 6);
        out[names].total += sums.total;
        out[names].self += sums.self;
      }
      std::erase_if(out, [](const auto& box) { return box.second.total == 0 && box.second.self == 0; });
      return out;
    };
    return difference(
        without_widths(engine_tree(plain, *selection_of(plain, *filtered), Shape::top_down, {})),
        without_widths(oracle::tree_of(asked.stacks, asked.spec)));
  });
}
