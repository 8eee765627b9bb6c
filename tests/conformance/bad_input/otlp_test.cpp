#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/bad_input/protobuf_bytes.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

// One profile around a sample, with a dictionary of two strings, a location and a stack; 1.10.
std::string message(const std::string& profile, const std::string& dictionary = "") {
  const std::string tables = dictionary.empty()
                                 ? field(5, "") + field(5, "cpu") + field(2, "") + field(2, "") +
                                       field(7, "") + field(7, field(1, "\x01")) + field(6, "") + field(3, "")
                                 : dictionary;
  return field(2, tables) + field(1, field(2, field(2, profile)));
}
const std::string kType = field(1, number_field(1, 1) + number_field(2, 1));

}  // namespace

TEST_CASE("otlp: bad input is refused or counted") {
  check_bad_inputs(
      "otlp",
      {
          {"another file", "hello", "error malformed: top of a message"},
          {"a broken field", message(kType) + "\x0a", "error malformed: top of a message"},
          {"a number at the top", message(kType) + number_field(1, 3), "error malformed: wrong wire type"},
          {"a profile of several sample types", message(kType + kType),
           "error unsupported: several sample types"},
          {"a profile before 1.8", message(kType + field(3, "\x01")), "error unsupported: before 1.8"},
          {"a stack past the table", message(kType + field(2, number_field(1, 9) + field(4, "\x01"))),
           "error malformed: stack 9"},
          {"a link past the table",
           message(kType + field(2, number_field(1, 1) + number_field(3, 9) + field(4, "\x01"))),
           "error malformed: link 9"},
          {"an attribute past the table",
           message(kType + field(2, number_field(1, 1) + field(2, "\x09") + field(4, "\x01"))),
           "error malformed: attribute 9"},
          {"a sample type past the strings", message(field(1, number_field(1, 9))),
           "error malformed: past the table"},
          {"a sample without a value", message(kType + field(2, number_field(1, 1))),
           "report sample-without-value"},
          {"values and timestamps that do not fit",
           message(kType + field(2, number_field(1, 1) + field(4, "\x01\x02") + field(5, "12345678"))),
           "error malformed: 2 values and 1 timestamps"},
          {"half a timestamp", message(kType + field(2, number_field(1, 1) + field(5, "1234"))),
           "error malformed: timestamps"},
          {"a location past the table",
           message(kType + field(2, number_field(1, 1) + field(4, "\x01")),
                   field(5, "") + field(5, "cpu") + field(7, "") + field(7, field(1, "\x08"))),
           "error malformed: location 8"},
          {"a stack of locations that are stacks themselves",
           message(kType + field(2, number_field(1, 1) + field(4, "\x01")),
                   field(5, "") + field(5, "cpu") + field(2, "") + field(2, repeated(1100, field(3, ""))) +
                       field(7, "") + field(7, field(1, std::string(1000, '\x01'))) + field(6, "") +
                       field(3, "")),
           "error limit: stack_depth"},
          {"a string table that does not begin empty", message(kType, field(5, "x") + field(2, "")),
           "error malformed: string_table[0]"},
          {"a frame longer than the file", std::string("\0\0\7\7", 4) + message(kType),
           "error truncated: inside a message"},
          {"JSON with text for a number",
           R"({"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"period":"x"}]}]}]})",
           "error malformed: should be a number"},
          {"JSON cut off", R"({"resourceProfiles":[{"scopeProfiles":[)", "error truncated: "},
      });
}
