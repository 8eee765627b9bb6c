#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"
#include "tests/support/perf_data_file.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string number(std::uint64_t v, int n = 8) {
  return PerfDataFile::of(v, n);
}

std::string header(std::uint64_t version = 1, std::uint64_t size = 40) {
  return number(0x4A695444, 4) + number(version, 4) + number(size, 4) + number(62, 4) + number(0, 4) +
         number(7, 4) + number(0) + number(0);
}

std::string record(std::uint64_t id, const std::string& body) {
  return number(id, 4) + number(16 + body.size(), 4) + number(1) + body;
}

std::string load(std::uint64_t start, std::uint64_t size, const std::string& name) {
  return record(
      0, number(7, 4) + number(7, 4) + number(start) + number(start) + number(size) + number(0) + name);
}

const std::string kGood = header() + load(0x1000, 16, std::string("f\0", 2));

}  // namespace

TEST_CASE("jitdump: bad input is refused or counted") {
  check_bad_inputs(
      "jitdump",
      {
          {"no magic", "nothing of the kind", "error malformed: does not begin with JiTD"},
          {"a header cut short", header().substr(0, 30), "error truncated: the header ends early"},
          {"version 2", header(2), "error unsupported: jitdump version 2"},
          {"a header longer than the file", header(1, 1000), "error malformed: a header of 1000 bytes"},
          {"a record of 3 bytes", kGood + number(0, 4) + number(3, 4) + number(0),
           "error malformed: a record of 3 bytes"},
          {"a record cut short", kGood + number(0, 4) + number(300, 4) + number(0),
           "error truncated: ends inside a record"},
          {"code that wraps around", kGood + load(~0ull, 16, std::string("f\0", 2)),
           "report malformed-record"},
          {"a name without an end", kGood + load(0x1000, 16, "f"), "report malformed-record"},
          {"a record of another kind", kGood + record(99, ""), "report unknown-record"},
          {"more lines than there are bytes",
           kGood + record(2, number(0x2000) + number(1ull << 60)) + load(0x2000, 16, std::string("g\0", 2)),
           "report bad-debug-line"},
          {"memory in place of a file's name",
           kGood +
               record(2, number(0x2000) + number(2) + number(0x2000) + number(1, 4) + number(1, 4) +
                             std::string("a\0", 2) + number(0x2004) + number(2, 4) + number(1, 4) +
                             std::string("\xccT\x01\0", 4)) +
               load(0x2000, 16, std::string("g\0", 2)),
           "report bad-debug-line"},
          {"lines of other code",
           kGood +
               record(2, number(0x2000) + number(1) + number(0x9000) + number(1, 4) + number(1, 4) +
                             std::string("a\0", 2)) +
               load(0x2000, 16, std::string("g\0", 2)),
           "report bad-debug-line"},
      });
}
