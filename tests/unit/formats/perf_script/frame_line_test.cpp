#include "formats/perf_script/frame_line.h"

#include "tests/support/catch.h"

using namespace profd::perf_script;

TEST_CASE("perf script: an offset in the module's file is the frame's address") {
  const FrameLine plain = parse_frame_line("    7fd9c18cead7 __stpncpy+0x57 (/usr/lib/libc.so.6)");
  CHECK(plain.address == 0x7fd9c18cead7);
  CHECK(plain.module == "/usr/lib/libc.so.6");
  const FrameLine placed = parse_frame_line("    7fd9c18cead7 __stpncpy+0x57 (/usr/lib/libc.so.6+0x9cad7)");
  CHECK(placed.address == 0x9cad7);
  CHECK(placed.module == "/usr/lib/libc.so.6");
  CHECK(placed.symbol == "__stpncpy");
  // Of memory without a file an offset says nothing.
  CHECK(parse_frame_line("    7fd9c18cead7 [unknown] ([heap]+0xad7)").address == 0x7fd9c18cead7);
  CHECK(parse_frame_line("    7fd9c18cead7 f (/tmp/a+0x)").module == "/tmp/a+0x");
}
