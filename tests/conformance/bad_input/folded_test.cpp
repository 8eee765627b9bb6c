#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("folded: bad input is refused or counted") {
  std::string deep = "a";
  for (int i = 0; i < 10001; ++i) deep += ";a";
  check_bad_inputs(
      "folded",
      {
          {"only blanks", " \n\t\n\r\n", "error malformed: no line is a stack"},
          {"no counts", "main;a\nmain;b\n", "error malformed: no line is a stack"},
          {"counts without stacks", "5\n 6\n", "error malformed: no line is a stack"},
          {"binary", std::string("\0\1\2\3\n\xff\xfe\xfd", 8), "error malformed: no line is a stack"},
          {"too deep", deep + " 1\n", "error limit: stack_depth"},
          {"a line without a count", "main;a 1\nmain;b\n", "report malformed-line"},
          {"a count without a stack", "main;a 1\n 4\n", "report no-stack"},
          {"a count without a blank", "main;a 1\n4\n", "report malformed-line"},
          {"a negative count", "main;a 1\nmain;b -1\n", "report malformed-line"},
          {"infinity", "main;a 1\nmain;b inf\n", "report malformed-line"},
          {"a count above int64", "main;a 18446744073709551616\n", "report count-too-large"},
          {"bytes that are no UTF-8", "main;\xff\xfe 1\n", "report invalid-utf8"},
          {"frames without names", ";; 1\n", "report empty-frame"},
          {"a lone surrogate in UTF-16",
           std::string("\xff\xfe"
                       "a\0;\0"
                       "\x00\xd8"
                       " \0"
                       "1\0",
                       12),
           "report invalid-utf-16"},
          {"an odd number of bytes in UTF-16",
           std::string("\xff\xfe"
                       "a\0;\0b\0 \0"
                       "1\0\n",
                       13),
           "report invalid-utf-16"},
      });
}

TEST_CASE("folded: 100,000 equal frames on a line are a stack as deep as that") {
  std::string deep = "a";
  for (int i = 1; i < 100000; ++i) deep += ";a";
  OpenOptions options;
  options.format = "folded";  // sniffing does not see the end of the first line
  const auto opened = open_hidden(deep + " 3\n" + deep + ";b 4\n", options);
  REQUIRE(opened);
  CHECK(opened->profiles.front()->tree().size() == 100002);
}

TEST_CASE("folded: sums that overflow are clamped and marked") {
  const auto opened = open_hidden("main;a 9223372036854775807\nmain;b 9223372036854775807\n");
  REQUIRE(opened);
  CHECK(opened->profiles.front()->metrics().front().saturated);
}
