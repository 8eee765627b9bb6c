#include "core/code/blocks.h"

#include "tests/support/catch.h"
#include "tests/unit/core/code/code_text.h"

using namespace profd;
using profd::test::CodeText;

namespace {

Blocks blocks_of(const std::string& text) {
  const CodeText code(text);
  return basic_blocks(code.rows(), target_rows(code.rows()));
}

using Rows = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("an address is in the row of its instruction, its middle as well") {
  const std::vector<std::uint64_t> address = {0x10, 0x15, 0x20}, target = {0x15, 0x17, 0x30};
  const std::vector<std::uint8_t> length = {5, 3, 1};
  const std::vector<InstructionKind> kind(3, InstructionKind::jump);
  const CodeRows rows{address, length, kind, target};
  CHECK(row_at(rows, 0xf) == kNone);
  CHECK(row_at(rows, 0x10) == 0);
  CHECK(row_at(rows, 0x14) == 0);
  CHECK(row_at(rows, 0x15) == 1);
  CHECK(row_at(rows, 0x18) == kNone);  // in a gap
  CHECK(row_at(rows, 0x21) == kNone);
  // A jump into the middle of an instruction, and one that leaves, lead to no row.
  CHECK(target_rows(rows) == Rows{1, kNone, kNone});
}

TEST_CASE("blocks begin where jumps lead and behind what ends one, not behind calls") {
  const Blocks blocks = blocks_of(". c ?4 . . r . t .");
  CHECK(blocks.first == Rows{0, 3, 4, 6, 8});
  CHECK(blocks.loop_depth == Rows{0, 0, 0, 0, 0});
  CHECK(blocks_of("").size() == 0);
}

TEST_CASE("loops inside of loops are counted") {
  // for (…) { for (…) {…} }: rows 1 to 5 outer, 2 to 3 inner.
  const Blocks blocks = blocks_of(". . . ?2 . ?1 r");
  CHECK(blocks.first == Rows{0, 1, 2, 4, 6});
  CHECK(blocks.loop_depth == Rows{0, 1, 2, 1, 0});
}

TEST_CASE("two jumps back to one place are one loop, one to itself is one, too") {
  CHECK(blocks_of(". . ?1 . ?1 r").loop_depth == Rows{0, 1, 1, 0});
  CHECK(blocks_of(". ?1 r").loop_depth == Rows{0, 1, 0});
}

TEST_CASE("a switch within a loop keeps its cases in it") {
  // 1: the head with an indirect jump, 2 and 4 cases that jump back, 6 the end.
  const Blocks blocks = blocks_of(". ?6 * . j1 . j1 r");
  CHECK(blocks.first == Rows{0, 1, 2, 3, 5, 6, 7});
  CHECK(blocks.loop_depth[1] == 1);
  CHECK(blocks.loop_depth[3] == 1);
}

TEST_CASE("code that nothing leads to is entered as well, and its loops are loops") {
  CHECK(blocks_of(". r . ?2 r").loop_depth == Rows{0, 1, 0});
  // A ring that nothing leads to.
  CHECK(blocks_of("r . j3 . j1").loop_depth == Rows{0, 1, 1});
}
