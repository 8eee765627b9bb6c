#include "formats/support/valgrind_frame.h"

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("valgrind frames: a name with brackets, a file and a line") {
  const ValgrindFrame f = parse_valgrind_frame("0x10A8B2: worker(int, int) (demo.cpp:18)");
  CHECK(f.address == 0x10A8B2);
  CHECK(f.name == "worker(int, int)");
  CHECK(f.file == "demo.cpp");
  CHECK(f.line == 18);
  CHECK(f.column == 0);
}

TEST_CASE("valgrind frames: Rust has columns") {
  const ValgrindFrame f = parse_valgrind_frame("0x1: <a::B as c::D>::e (alloc.rs:226:9)");
  CHECK(f.name == "<a::B as c::D>::e");
  CHECK(f.file == "alloc.rs");
  CHECK(f.line == 226);
  CHECK(f.column == 9);
}

TEST_CASE("valgrind frames: a name alone, with or without an address") {
  CHECK(parse_valgrind_frame("0x12: f(int)").name == "f(int)");
  CHECK(parse_valgrind_frame("[root]").name == "[root]");
  CHECK(parse_valgrind_frame("operator() (int)").name == "operator() (int)");
  CHECK(parse_valgrind_frame("").name.empty());
}

TEST_CASE("valgrind frames: a module instead of a file, and a name that is not known") {
  const ValgrindFrame f = parse_valgrind_frame("0x48FB7B9: ??? (in /usr/lib/libstdc++.so.6)");
  CHECK(f.name == "???");
  CHECK(f.module == "/usr/lib/libstdc++.so.6");
}
