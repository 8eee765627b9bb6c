#include "formats/support/stack_text.h"

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("split_offset cuts what follows the last plus when it is a number") {
  CHECK(split_offset("main+0x1f").name == "main");
  CHECK(split_offset("main+0x1f").offset == 0x1f);
  CHECK(split_offset("main+17").offset == 17);
  CHECK(split_offset("do_idle+0x53/0x1d0").name == "do_idle");
  CHECK(split_offset("do_idle+0x53/0x1d0").offset == 0x53);
  CHECK(split_offset("operator+").name == "operator+");
  CHECK(split_offset("operator++(int)+4").name == "operator++(int)");
  CHECK(split_offset("a+b").name == "a+b");
  CHECK(split_offset("+4").name == "+4");
  CHECK(split_offset("f+0x1/zz").name == "f+0x1/zz");
  CHECK(split_offset("").name == "");
}
