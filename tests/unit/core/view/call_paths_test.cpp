#include "core/view/call_paths.h"

#include <cmath>
#include <functional>
#include <map>
#include <sstream>

#include "core/layout/flame.h"
#include "core/layout/match_step.h"
#include "core/model/profile_builder.h"
#include "core/view/filtered_profile.h"
#include "core/view/hottest.h"
#include "core/view/match_marks.h"
#include "core/view/search.h"
#include "core/view/table.h"
#include "core/view/unfold.h"
#include "tests/support/box_paths.h"
#include "tests/support/catch.h"
#include "tests/support/format_tree.h"

using namespace profd;
using namespace profd::test;

namespace {

// A source without stacks from lines "name self total" and "caller > callee cost"; every self value stands
// where nothing is known of its callers.
template <class T = std::int64_t>
ProfilePtr graph(std::string_view text) {
  ProfileBuilder b;
  const MetricId cost = b.add_metric("cost", "count", std::is_same_v<T, double>);
  const MetricId calls = b.add_metric("calls", "count");
  b.state_costs({cost});
  const auto frame = [&](const std::string& name) { return b.frame({.function = b.function(name, "a.c")}); };
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, second;
    if (!(words >> name >> second)) continue;
    if (second == ">") {
      std::string callee, number;
      words >> callee >> number;
      const Value value = static_cast<T>(std::stod(number == "?" ? "0" : number));
      b.state_call(frame(name), frame(callee),
                   number == "?" ? std::span<const Value>() : std::span(&value, 1));
      continue;
    }
    T total{};
    words >> total;
    const ContextId at = b.context_of(std::vector{frame(name)});
    b.add_self(at, cost, static_cast<T>(std::stod(second)));
    b.add_self(at, calls, std::int64_t{2});
    const Value value = total;
    b.state_function(frame(name), std::span(&value, 1));
  }
  return *std::move(b).finish();
}

SelectionPtr selected(const ProfilePtr& profile, std::string_view spec = "top-down") {
  return *select(profile, *parse_view_spec(spec), {});
}

// "name total self", an estimate after "~"; children by name.
std::string tree_of(const Selection& s, Shape shape = Shape::top_down,
                    const std::vector<std::string>& focus = {}) {
  std::string out;
  TreeRequest request{shape, focus.empty() ? std::vector<Key>() : keys_called(s, focus), {}, 0, 100};
  const std::function<void(const std::string&)> walk = [&](const std::string& name) {
    const TreeLevel level = *tree_level(s, request, {});
    const auto number = [](const Value& value, bool estimated) {
      return (estimated ? "~" : "") + format_value(value);
    };
    out += std::string(2 * request.path.size(), ' ') + name + " " +
           number(level.total, (level.estimate & kTotalEstimated) != 0) + " " +
           number(level.self, (level.estimate & kSelfEstimated) != 0) + "\n";
    std::map<std::string, Key> below;
    for (const Key key : level.key) below.emplace(key_name(*s.profile, *s.boxes->keys, key), key);
    for (const auto& [child, key] : below) {
      request.path.push_back(key);
      walk(child);
      request.path.pop_back();
    }
  };
  walk("all");
  return out;
}

constexpr std::string_view kDiamond = R"(
  main 2 835
  a 10 298
  c 20 535
  b 100 300
  leaf 703 703
  main > a 298
  main > c 535
  a > b 100
  c > b 200
  a > leaf 188
  c > leaf 315
  b > leaf 200
)";

// Every node's parts and self come to its total; returns Σ self by function, of everything that can be
// unfolded.
template <class T>
std::map<Key, T> unfold_all(const Selection& s, Shape shape, std::size_t most = 20'000) {
  StopToken stop;
  const auto tree = *UnfoldedTree<T>::make(s, shape, {}, stop);
  std::map<Key, T> selves;
  for (std::uint32_t id = 0; id < tree->size() && id < most; ++id) {
    REQUIRE(tree->expand(id, stop));
    const auto node = tree->node(id);
    T sum = node.self;
    for (std::uint32_t c = 0; c < node.n_children; ++c) {
      CHECK(tree->node(node.first_child + c).total > 0);
      sum += tree->node(node.first_child + c).total;
    }
    CHECK(node.self >= 0);
    CHECK(static_cast<double>(sum) == Approx(static_cast<double>(node.total)));
    selves[node.key] += node.self;
  }
  return selves;
}

}  // namespace

TEST_CASE("a function stands below each of its callers with what the source says of these calls") {
  const auto s = selected(graph(kDiamond));
  CHECK(s->divided);
  CHECK(tree_of(*s) == dedent(R"(
    all 835 0
      main 835 2
        a 298 10
          b 100 ~33
            leaf ~67 ~67
          leaf 188 188
        c 535 20
          b 200 ~67
            leaf ~133 ~133
          leaf 315 315
    )"));
}

TEST_CASE("the selves of divided paths are those of the functions") {
  const auto s = selected(graph(kDiamond));
  const auto selves = unfold_all<std::int64_t>(*s, Shape::top_down);
  for (const auto& [key, self] : selves) {
    if (key == kNone) continue;
    // Whole numbers are cut: a unit a node at most.
    CHECK(std::abs(self - std::get<std::int64_t>(s->stated->self[key])) <= 2);
  }
  const auto up = unfold_all<std::int64_t>(*s, Shape::bottom_up);
  CHECK(up.at(kNone) == 0);
}

TEST_CASE("the proven tree is a switch away") {
  const auto profile = graph(kDiamond);
  const auto proven = selected(profile, "top-down | paths proven");
  CHECK_FALSE(proven->divided);
  CHECK(proven->stated);
  CHECK(tree_of(*proven).find("main ~2 ~2") != std::string::npos);
  CHECK(to_text(*parse_view_spec("top-down | paths proven | metric cost")) ==
        "top-down by function | paths proven | metric cost");
  CHECK(to_text(*parse_view_spec("top-down | paths divided")) == "top-down by function");
  CHECK(parse_view_spec("top-down | paths prooven").error().message.find("proven") != std::string::npos);
  CHECK_FALSE(parse_filters("paths proven"));
  // What divides must be whole: under a filter only the proven tree is known.
  CHECK_FALSE(selected(profile, "top-down | drop function b")->divided);
  CHECK_FALSE(selected(profile, "top-down by file")->divided);
  CHECK_FALSE(selected(profile, "top-down | metric calls")->divided);
  CHECK_FALSE(select_text("main;f 3", "top-down")->divided);
}

TEST_CASE("callers and callees of a function go on upwards and downwards") {
  const auto s = selected(graph(kDiamond));
  CHECK(tree_of(*s, Shape::callees, {"b"}) == dedent(R"(
    all 300 100
      leaf 200 200
    )"));
  CHECK(tree_of(*s, Shape::callers, {"b"}) == dedent(R"(
    all 300 0
      a 100 0
        main 100 100
      c 200 0
        main 200 200
    )"));
  CHECK(tree_of(*s, Shape::bottom_up) == dedent(R"(
    all 835 0
      a 10 0
        main 10 10
      b 100 ~0
        a ~33 ~0
          main ~33 ~33
        c ~67 ~0
          main ~67 ~67
      c 20 0
        main 20 20
      leaf 703 ~0
        a ~188 ~0
          main ~188 ~188
        b ~200 ~0
          a ~67 ~0
            main ~67 ~67
          c ~133 ~0
            main ~133 ~133
        c ~315 ~0
          main ~315 ~315
      main 2 2
    )"));
}

TEST_CASE("recursion is cut where a function meets itself") {
  // A function's calls of itself are part of it.
  CHECK(tree_of(*selected(graph("main 1 11\n fib 10 10\n main > fib 10\n fib > fib 38\n"))) == dedent(R"(
    all 11 0
      main 11 1
        fib 10 10
    )"));
  const auto two = selected(graph(R"(
    main 0 10
    even 5 10
    odd 5 9
    main > even 10
    even > odd 9
    odd > even 7
  )"));
  CHECK(tree_of(*two) == dedent(R"(
    all 10 0
      main 10 0
        even 10 ~1
          odd 9 ~2
            even 7 ~7
    )"));
  unfold_all<std::int64_t>(*two, Shape::bottom_up);
  // Counted at every level, the calls come to more than there is: then they are shares of it.
  const auto counted =
      selected(graph("main 0 10\n even 5 10\n odd 5 9\n main > even 10\n even > odd 25\n odd > even 20\n"));
  unfold_all<std::int64_t>(*counted, Shape::top_down);
  CHECK(tree_of(*counted).find("even 10 ~2\n      odd ~8") != std::string::npos);
}

TEST_CASE("the outermost of recursive calls keeps what is stated of it") {
  // As an import in Python: exec runs the program, which runs exec for each module it imports.
  const auto s = selected(graph(R"(
    exec 10 1000
    program 590 990
    import 100 400
    json 300 300
    exec > program 990
    program > import 400
    import > exec 300
    exec > json 300
  )"));
  CHECK(tree_of(*s).starts_with("all 1000 0\n  exec 1000 ~"));
  CHECK(tree_of(*s).find("\n    program 990 590\n      import 400 100\n        exec 300 ~300\n") !=
        std::string::npos);
  unfold_all<std::int64_t>(*s, Shape::top_down);
}

TEST_CASE("functions that only call each other stand where the heaviest was entered") {
  const auto s = selected(graph("x 4 10\n y 6 9\n x > y 9\n y > x 3\n"));
  CHECK(tree_of(*s).starts_with("all 10 0\n  x 10"));
  unfold_all<std::int64_t>(*s, Shape::top_down);
}

TEST_CASE("what calls of unknown cost lead to is the rest of what their caller costs") {
  const auto s = selected(graph("main 1 20\n f 9 19\n g 10 10\n main > f 19\n f > g ?\n"));
  CHECK(tree_of(*s) == dedent(R"(
    all 20 0
      main 20 1
        f 19 ~9
          g ~10 ~10
    )"));
  CHECK_FALSE(selected(graph("main 1 20\n f 19 19\n main > f ?\n"))->divided);
}

TEST_CASE("a thread that begins in a function that is called elsewhere begins there") {
  const auto s = selected(graph("main 1 11\n work 30 30\n main > work 10\n"));
  CHECK(tree_of(*s).starts_with("all 31 0\n  main 11 1\n    work 10"));
  CHECK(tree_of(*s).find("\n  work 20") != std::string::npos);
}

TEST_CASE("fractions divide like whole numbers") {
  const auto s = selected(
      graph<double>("main 0.5 3\n a 1 1.5\n b 1 1\n f 0.5 0.5\n main > a 1.5\n main > b 1\n a > f 0.5\n"));
  const auto selves = unfold_all<double>(*s, Shape::top_down);
  for (const auto& [key, self] : selves)
    if (key != kNone) CHECK(self == Approx(std::get<double>(s->stated->self[key])));
}

TEST_CASE("a dense graph of calls costs what is looked at") {
  // 40 levels of 6 functions, each calling all of the next: 6^40 paths.
  std::string text = "main 0 240\n";
  constexpr int kLevels = 40, kWide = 6;
  for (int level = 0; level < kLevels; ++level)
    for (int i = 0; i < kWide; ++i) {
      const int below = kLevels - level;
      text += "f" + std::to_string(level) + "_" + std::to_string(i) + " 36000 " +
              std::to_string(36000L * below) + "\n";
      if (level == 0) text += "main > f0_" + std::to_string(i) + " " + std::to_string(36000L * below) + "\n";
      for (int j = 0; j < kWide && level + 1 < kLevels; ++j)
        text += "f" + std::to_string(level) + "_" + std::to_string(i) + " > f" + std::to_string(level + 1) +
                "_" + std::to_string(j) + " " + std::to_string(6000L * (below - 1)) + "\n";
    }
  text.replace(0, text.find('\n'), "main 0 " + std::to_string(36000L * kLevels * kWide));
  const auto s = selected(graph(text));
  const FlameLayout layout = *layout_flame(*s, {}, {});
  CHECK(layout.size() <= 1800);
  CHECK(layout.size() > 200);
  CHECK(layout.estimate.size() == layout.size());
  const SearchResult found = *search(*s, "^f39_", {});
  CHECK(std::get<std::int64_t>(found.matched) == 36000 * kWide);
  CHECK(found.estimated);
  const MatchMarks marks = *[&] {
    SerialExecutor serial;
    return mark_matches(*s, std::make_shared<const SearchResult>(found), false, {}, serial);
  }();
  LayoutRequest request;
  request.matches = &marks;
  const FlameLayout searched = *layout_flame(*s, request, {});
  const auto sum =
      std::get<std::int64_t>(searched.matched_shown) + std::get<std::int64_t>(searched.matched_hidden);
  CHECK(std::abs(sum - 36000 * kWide) < 3600);
  // However deep a match is, it is reached.
  const auto step = *step_to_match(*s, marks, {}, {});
  REQUIRE(step);
  CHECK(step->path.size() == kLevels + 1);
  CHECK(heaviest_paths(*s, 5, {})->paths.size() <= 5);
}

TEST_CASE("boxes of divided paths have no value in a metric that says nothing of calls") {
  const auto profile = graph(kDiamond);
  const auto s = selected(profile), calls = selected(profile, "top-down | metric calls");
  const FlameLayout layout = *layout_flame(*s, {}, {});
  const std::vector<Value> unknown = *totals_of_boxes(*calls, layout);
  for (const Value& value : unknown) CHECK(std::isnan(as_double(value)));
  CHECK(*totals_of_boxes(*s, layout) == layout.total);
}

TEST_CASE("how often a function was called says nothing of what is below it") {
  const auto view = *flat_view(*selected(graph(kDiamond), "flat | metric calls"), {});
  CHECK(view.key.size() == 5);
  for (std::size_t row = 0; row < view.key.size(); ++row) {
    CHECK(view.total[row] == Value{2L});
    CHECK(view.estimate_of(row) == kExact);
  }
}

TEST_CASE("one function's share of a search is its total") {
  const auto s = selected(graph(kDiamond));
  const SearchResult one = *search(*s, "^b$", {});
  CHECK(one.matched == Value{300L});
  CHECK_FALSE(one.estimated);
  const SearchResult two = *search(*s, "^(b|leaf)$", {});
  CHECK(two.matched == Value{803L});
}
