#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string varint(std::uint64_t n) {
  std::string out;
  for (; n > 127; n >>= 7) out += static_cast<char>((n & 127) | 128);
  return out + static_cast<char>(n);
}
std::string num(int field, std::uint64_t n) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(n);
}
std::string msg(int field, const std::string& body) {
  return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(body.size()) + body;
}

std::string repeated(std::size_t n, const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += text;
  return out;
}

// One metric, one function, one context with id 1.
const std::string kMetric = msg(1, num(1, 1) + num(2, 1) + num(3, 2));
const std::string kContext = msg(3, num(1, 1) + num(2, 1));
const std::string kCode = msg(4, num(1, 1) + msg(2, num(1, 1))) + msg(5, num(1, 1) + num(2, 3));
const std::string kStrings = msg(7, "") + msg(7, "times") + msg(7, "n") + msg(7, "main");

std::string sample(std::uint64_t context, const std::string& values) {
  return msg(2, num(1, context) + values);
}
std::string value(std::uint64_t n) {
  return msg(2, num(2, n));
}

}  // namespace

TEST_CASE("easyview: bad input is refused or counted") {
  check_bad_inputs(
      "easyview",
      {
          {"no metric", kContext + kCode + kStrings, "error malformed: declares no metric"},
          {"text", "hello, world, this is text", "error malformed: field"},
          {"a message cut off", kMetric + kContext + "\x12\x7f", "error truncated: ends inside"},
          {"a field as a number", kMetric + num(3, 4), "error malformed: field 3 is no message"},
          {"a context that is no message", kMetric + msg(3, "\x07"), "error malformed: ill-formed"},
          {"a sample of an unknown context", kMetric + sample(9, value(1)) + kContext + kCode + kStrings,
           "error malformed: context 9"},
          {"more values than metrics", kMetric + sample(1, value(1) + value(2)) + kContext + kCode + kStrings,
           "error malformed: 2 values"},
          {"two contexts of one id that differ",
           kMetric + sample(1, value(1)) + kContext + msg(3, num(1, 1) + num(2, 2)) + kCode + kStrings,
           "report repeated-context"},
          {"a context that calls itself",
           kMetric + msg(3, num(1, 1) + num(2, 1) + num(3, 1)) + kCode + kStrings,
           "error malformed: its own caller"},
          {"contexts of a location of very many lines",
           kMetric + msg(4, num(1, 1) + repeated(8000, msg(2, num(1, 1)))) + repeated(3000, kContext) +
               msg(5, num(1, 1) + num(2, 3)) + kStrings,
           "error limit: frames for a byte"},
          {"a function that is not there",
           kMetric + kContext + msg(4, num(1, 1) + msg(2, num(1, 8))) + kStrings,
           "error malformed: function 8"},
          {"a string out of range", kMetric + kContext + kCode + msg(7, "") + msg(7, "times"),
           "error malformed: string 3 of 2"},
          {"a first string that is not empty", kMetric + kContext + kCode + msg(7, "x") + kStrings,
           "error malformed: first string"},
          {"a caller that is not there",
           kMetric + sample(1, value(1)) + msg(3, num(1, 1) + num(2, 1) + num(3, 50)) + kCode + kStrings,
           "report unknown-parent"},
          {"a callee that is not there",
           kMetric + sample(1, value(1)) + msg(3, num(1, 1) + num(2, 1) + msg(4, varint(50))) + kCode +
               kStrings,
           "report unknown-child"},
          {"a context without a location",
           kMetric + sample(1, value(1)) + msg(3, num(1, 1) + num(2, 7)) + kCode + kStrings,
           "report context-without-function"},
          {"a value above int64", kMetric + sample(1, value(UINT64_MAX)) + kContext + kCode + kStrings,
           "report value-too-large"},
          {"a link to nowhere",
           msg(1, num(1, 1) + num(3, 4)) + kMetric + sample(1, value(77) + value(1)) + kContext + kCode +
               kStrings + msg(7, "use context"),
           "report unknown-link"},
      });
}

TEST_CASE("easyview: 200,000 contexts below each other are read without recursion") {
  std::string contexts;
  constexpr std::uint64_t kDepth = 200'000;
  for (std::uint64_t id = kDepth; id > 0; --id)
    contexts += msg(3, num(1, id) + num(2, 1) + (id > 1 ? num(3, id - 1) : ""));
  const ReadOutcome read =
      read_with("easyview", kMetric + sample(kDepth, value(7)) + contexts + kCode + kStrings);
  REQUIRE(read.error == "");
  CHECK(read.profiles[0]->tree().size() == kDepth + 1);
  CHECK(total_of(*read.profiles[0], "n") == 7);
}
