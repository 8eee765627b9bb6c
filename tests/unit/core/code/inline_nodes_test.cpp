#include "core/code/inline_nodes.h"

#include "core/code/line_ranges.h"
#include "core/support/id.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

using Column = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("an inlined call is one, whatever of its lines is met") {
  // main:10 calls f (lines 3 and 4), of which line 4 calls g (line 7); main:11 calls f again.
  const Column parent = {kNone, 0, 0, 2, kNone, 4, kNone};
  const Column function = {1, 2, 2, 3, 1, 2, 1};
  const Column file(7, 9);
  const Column line = {10, 3, 4, 7, 11, 3, 12};
  const Column column(7, 0);
  const InlineNodes nodes = inline_nodes({parent, function, file, line, column});
  CHECK(nodes.of_chain == Column{kNone, 0, 0, 1, kNone, 2, kNone});
  CHECK(nodes.parent == Column{kNone, 0, kNone});
  CHECK(nodes.function == Column{2, 3, 2});
  CHECK(nodes.call_line == Column{10, 4, 11});
}

TEST_CASE("two calls on one line are told apart by their columns") {
  const Column parent = {kNone, 0, kNone, 2}, function = {1, 2, 1, 2}, file(4, 0), line = {5, 9, 5, 9};
  CHECK(inline_nodes({parent, function, file, line, Column{3, 1, 14, 1}}).size() == 2);
  CHECK(inline_nodes({parent, function, file, line, Column{3, 1, 3, 1}}).size() == 1);
}

TEST_CASE("lines have a range for every run of their rows") {
  const Column file = {1, 1, 1, 2, 1, 1}, line = {5, 5, 6, 5, 5, 0};
  const LineRanges ranges = line_ranges(file, line);
  CHECK(ranges.file == Column{1, 1, 1, 2});
  CHECK(ranges.line == Column{5, 5, 6, 5});
  CHECK(ranges.first == Column{0, 4, 2, 3});
  CHECK(ranges.count == Column{2, 1, 1, 1});
}
