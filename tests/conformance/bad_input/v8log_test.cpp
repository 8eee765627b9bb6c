#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"

using namespace profd::test;

TEST_CASE("v8log: bad input is refused or counted") {
  const std::string start = "v8-version,11,3\nprofiler,begin,1000\n", tick = "tick,0x10,1,0,0x0,0\n";
  std::string deep = "tick,0x10,1,0,0x0,0";
  for (int i = 0; i < 10005; ++i) deep += ",+0x0";
  check_bad_inputs(
      "v8log",
      {
          {"no ticks", start, "error malformed: no tick lines"},
          {"something else", "hello\nworld\n", "error malformed: no tick lines"},
          {"only a broken tick", start + "tick,0x10,1\n", "error malformed: no tick lines"},
          {"a tick without fields", start + tick + "tick\n", "report malformed-line"},
          {"a pc that is a word", start + tick + "tick,here,1,0,0x0,0\n", "report malformed-line"},
          {"an address above 64 bits", start + tick + "code-move,0x11111111111111111,0x0\n",
           "report malformed-line"},
          {"a stack above the limit", "code-creation,Stub,1,0x0,99,\"s\"\n" + start + tick + deep + "\n",
           "report malformed-line"},
          {"a quote that does not end", start + tick + "shared-library,\"abc,0x1,0x2\n",
           "report malformed-line"},
          {"a caller nobody knows", start + "tick,0x10,1,0,0x0,0,0x99\n", "report unknown-caller"},
          {"a leaf nobody knows", start + tick, "report unknown-address"},
          {"a stack that V8 cut", start + "tick,0x10,1,0,0x0,0,overflow\n", "report cut-stack"},
          {"code nobody knows moves", start + tick + "code-move,0x1,0x2\n", "report unknown-code"},
          {"no interval", "v8-version,11\nprofiler,begin\n" + tick, "report no-interval"},
          {"cut inside a line", start + tick + "tick,0x1", "report truncated"},
          {"code at the end of the address space",
           "code-creation,Stub,1,0xffffffffffffffff,99,\"s\"\n" + start + tick, "report unknown-address"},
      });
}
