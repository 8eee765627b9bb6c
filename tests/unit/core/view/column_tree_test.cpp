// Two profiles side by side: what is gone, new, more and less, each at its place.
#include "core/view/column_tree.h"

#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

ComparisonPtr compared(std::string_view before, std::string_view after, std::string_view spec = "top-down") {
  const ViewSpec how = parse_view_spec(spec).value();
  return compare(*select(profile_from_text(before), how, {}), *select(profile_from_text(after), how, {}), {})
      .value();
}

char letter(Change change) {
  return "=+-AD"[static_cast<std::size_t>(change)];
}

void write(ColumnTree& tree, const Comparison& comparison, std::uint32_t id, std::string indent,
           std::string& out) {
  StopToken stop;
  REQUIRE(tree.expand(id, stop));
  const ColumnTree::Node node = tree.node(id);
  std::string name = "all";
  if (node.key != kNone) {
    const std::uint32_t input = comparison.joint.first_input[node.key];
    const Selection& selection = *comparison.sides[input];
    name = key_name(*selection.profile, *selection.boxes->keys, comparison.joint.key_in[input][node.key]);
  }
  const auto number = [&](Side side) {
    return std::to_string(static_cast<std::int64_t>(as_double(tree.total(id, index_of(side)))));
  };
  out += indent + name + " [" + letter(tree.change(id, 0, 1)) + "] " + number(Side::before) + " " +
         number(Side::after) + "\n";
  for (std::uint32_t child = node.first_child; child < node.first_child + node.n_children; ++child)
    write(tree, comparison, child, indent + "  ", out);
}

std::string text_of(const ComparisonPtr& comparison, Shape shape, const std::vector<Key>& focus = {}) {
  StopToken stop;
  auto tree = ColumnTree::make(columns_of(comparison), shape, focus, stop);
  REQUIRE(tree);
  std::string out = "\n";
  write(*tree, *comparison, 0, "", out);
  return out;
}

constexpr std::string_view kBefore =
    "main;parse;read 30\nmain;parse;old 10\nmain;gone;read 5\nmain;draw 20\n";
constexpr std::string_view kAfter = "main;parse;read 40\nmain;draw 20\nmain;fresh;read 7\nmain;parse 3\n";

}  // namespace

TEST_CASE("what is gone has a place and a value in every shape") {
  CHECK(text_of(compared(kBefore, kAfter), Shape::top_down) == R"(
all [+] 65 70
  main [+] 65 70
    draw [=] 20 20
    fresh [A] 0 7
      read [A] 0 7
    parse [+] 40 43
      read [+] 30 40
      old [D] 10 0
    gone [D] 5 0
      read [D] 5 0
)");
  CHECK(text_of(compared(kBefore, kAfter), Shape::bottom_up) == R"(
all [+] 65 70
  draw [=] 20 20
    main [=] 20 20
  parse [A] 0 3
    main [A] 0 3
  read [+] 35 47
    fresh [A] 0 7
      main [A] 0 7
    parse [+] 30 40
      main [+] 30 40
    gone [D] 5 0
      main [D] 5 0
  old [D] 10 0
    parse [D] 10 0
      main [D] 10 0
)");
}

TEST_CASE("a function that one side lacks is looked at in the other") {
  const ComparisonPtr comparison = compared(kBefore, kAfter);
  Key gone = kNone;
  for (Key key = 0; key < comparison->joint.n_keys(); ++key) {
    const Key own = comparison->joint.key_in[0][key];
    const Selection& before = comparison->side(Side::before);
    if (own != kNone && key_name(*before.profile, *before.boxes->keys, own) == "gone") gone = key;
  }
  REQUIRE(gone != kNone);
  CHECK(text_of(comparison, Shape::callees, {gone}) == R"(
all [D] 5 0
  read [D] 5 0
)");
}

TEST_CASE("two runs that differ in recursion depth alone are the same once recursion is collapsed") {
  const auto text = [](std::string_view spec) {
    return text_of(compared("main;f;f;f 20\nmain;g 1\n", "main;f;f 20\nmain;g 1\n", spec), Shape::top_down);
  };
  CHECK(text("top-down").find("[D]") != std::string::npos);
  CHECK(text("top-down | collapse recursion") == R"(
all [=] 21 21
  main [=] 21 21
    f [=] 20 20
    g [=] 1 1
)");
}

TEST_CASE("frames that one side hides by a filter are compared as the filter leaves them") {
  CHECK(text_of(compared("main;lib[module=x];f 10\n", "main;lib[module=y];f 10\n",
                         "top-down | hide module x | hide module y | keep function f"),
                Shape::top_down) == R"(
all [=] 10 10
  main [=] 10 10
    f [=] 10 10
)");
}
