#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/tar_bytes.h"
#include "tests/support/catch.h"

using namespace profd::test;

namespace {

const std::string kSymbols =
    "sym0 \"demo\" \"main\" \"main.cpp\" 3\nsym1 \"ntdll\" \"Wait\" \"[unknown]\" 0\n";
const std::string kStacks = "0.5 sym1 sym0\n";

std::string capture(const std::string& symbols, const std::string& stacks) {
  return tar_bytes({{"Symbols.txt", symbols}, {"Callstacks.txt", stacks}});
}

}  // namespace

TEST_CASE("Very Sleepy: bad input is refused or counted") {
  std::string deep = "1";
  for (int i = 0; i < 10001; ++i) deep += " sym0";
  check_bad_inputs(
      "sleepy",
      {
          {"no archive", kSymbols, "error malformed: not an archive"},
          {"no symbols", tar_bytes({{"Callstacks.txt", kStacks}}), "error malformed: not an archive"},
          {"no stacks", tar_bytes({{"Symbols.txt", kSymbols}}), "error malformed: not an archive"},
          {"stacks without a line", capture(kSymbols, ""), "error malformed: no stack"},
          {"no line that is a stack", capture(kSymbols, "half sym1 sym0\n"), "error malformed: no stack"},
          {"too deep", capture(kSymbols, deep + "\n"), "error limit: stack_depth"},
          {"a time that is none", capture(kSymbols, kStacks + "half sym1\n"), "report malformed-line"},
          {"a time that is not finite", capture(kSymbols, kStacks + "nan sym1\n"), "report malformed-line"},
          {"a symbol without a name", capture(kSymbols + "sym2 \"demo\"\n", kStacks),
           "report malformed-symbol"},
          {"a symbol that is not listed", capture(kSymbols, "1 sym9 sym0\n"), "report unknown-symbol"},
          {"a time below zero", capture(kSymbols, kStacks + "-1 sym1\n"), "report malformed-line"},
      });
}
