// V8's samples inside Chrome traces: docs/formats/chrome-trace.md in examples.
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("chrome-trace: CPU samples that come late stand where their time says") {
  // main at 110 us, (idle) at 140, and then work at 120 and 130.
  const auto read = read_with("chrome-trace", R"js([
    {"ph":"P","name":"Profile","id":"0x1","pid":1,"tid":1,"ts":100,"args":{"data":{"startTime":100}}},
    {"ph":"P","name":"ProfileChunk","id":"0x1","pid":1,"tid":2,"ts":150,"args":{"data":{"endTime":150,"cpuProfile":{
      "nodes":[{"id":1,"callFrame":{"functionName":"main"}},{"id":2,"parent":1,"callFrame":{"functionName":"work"}},
               {"id":3,"callFrame":{"functionName":"(idle)"}}],"samples":[1,3,2,2]},
      "timeDeltas":[10,30,-20,10]}}}])js");
  REQUIRE(read.error.empty());
  CHECK(self_by_function(*read.profiles.at(0), "time") ==
        std::map<std::string, double>{{"main", 10000}, {"work", 20000}, {"(idle)", 10000}});
  CHECK(n_reported(read, "negative-time-delta") == 1);
}
