#include "tests/support/address_paths.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

ProfilePtr read(const std::string& text) {
  const ReadOutcome outcome = read_with("firefox", text);
  INFO(outcome.error);
  REQUIRE(outcome.profiles.size() == 1);
  return outcome.profiles[0];
}

// Stacks of three addresses, of which `samples` name some.
std::string gecko(const std::string& samples) {
  return R"({"meta": {"interval": 1, "startTime": 0, "version": 30, "product": "Firefox", "processType": 0},
    "libs": [{"start": 4096, "end": 8192, "offset": 0, "name": "libxul.so", "path": "/libxul.so",
              "codeId": "F00D"}],
    "threads": [{"name": "GeckoMain", "pid": 7, "tid": 7,
      "samples": {"schema": {"stack": 0, "time": 1}, "data": [)" +
         samples + R"(]},
      "markers": {"schema": {"name": 0}, "data": []},
      "frameTable": {"schema": {"location": 0}, "data": [[0], [1], [2]]},
      "stackTable": {"schema": {"prefix": 0, "frame": 1}, "data": [[null, 0], [0, 1], [1, 2]]},
      "stringTable": ["0x1010", "0x1020", "0x1030"]}], "processes": []})";
}

}  // namespace

TEST_CASE("Gecko profiles: callers' addresses are what calls return to, the innermost is not") {
  const ProfilePtr p = read(gecko("[2, 1]"));
  CHECK(address_paths(*p) == std::set<std::string>{"0x10< 0x20< 0x30"});
  CHECK(p->tree().size() == 4);
  CHECK(p->modules().addresses[0] == AddressKind::image_offset);
}

TEST_CASE("Gecko profiles: one stack can be what ran and what called") {
  CHECK(address_paths(*read(gecko("[2, 1], [1, 2], [0, 3]"))) ==
        std::set<std::string>{"0x10< 0x20< 0x30", "0x10< 0x20", "0x10"});
}

TEST_CASE("processed Firefox profiles: frames know the symbol whose code they lie in, and point into calls") {
  const ProfilePtr p = read(R"({"meta": {"interval": 1, "startTime": 0, "version": 29,
    "preprocessedProfileVersion": 50, "product": "demo", "processType": 0,
    "categories": [{"name": "Other", "color": "grey", "subcategories": ["Other"]}]},
   "libs": [{"name": "libdemo.so", "path": "/libdemo.so", "codeId": "AB"}],
   "threads": [{"name": "Main", "processType": "default", "pid": 1, "tid": 2,
    "stringArray": ["outer", "inner", "_Z5outerv"],
    "resourceTable": {"length": 1, "lib": [0], "name": [0], "host": [null], "type": [1]},
    "nativeSymbols": {"length": 1, "libIndex": [0], "address": [256], "name": [2], "functionSize": [64]},
    "funcTable": {"length": 2, "name": [0, 1], "isJS": [false, false], "relevantForJS": [false, false],
     "resource": [0, 0], "fileName": [null, null], "lineNumber": [null, null], "columnNumber": [null, null]},
    "frameTable": {"length": 3, "func": [0, 1, 0], "address": [300, 300, 310], "inlineDepth": [0, 1, 0],
     "category": [0, 0, 0], "subcategory": [0, 0, 0], "nativeSymbol": [0, 0, null], "line": [null, null, null],
     "column": [null, null, null], "innerWindowID": [null, null, null]},
    "stackTable": {"length": 3, "frame": [2, 0, 1], "prefix": [null, 0, 1], "category": [0, 0, 0],
     "subcategory": [0, 0, 0]},
    "samples": {"length": 1, "stack": [2], "time": [1], "weight": null, "weightType": "samples"},
    "markers": {"length": 0, "name": [], "startTime": [], "endTime": [], "phase": [], "category": [], "data": []}}
   ]})");
  CHECK(address_paths(*p) == std::set<std::string>{"0x136 0x12c 0x12c"});
  CHECK(piece_of(*p, p->tree().frame[1]).empty());
  CHECK(piece_of(*p, p->tree().frame[2]) == "_Z5outerv 0x100+64");
  CHECK(piece_of(*p, p->tree().frame[3]) == "_Z5outerv 0x100+64");
}
