#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

const std::string kAttributes =
    "__rec=node,id=20,attr=10,data=65,parent=5\n__rec=node,id=21,attr=8,data=sum#time.duration,parent=20\n"
    "__rec=node,id=30,attr=10,data=268,parent=3\n__rec=node,id=31,attr=8,data=function,parent=30\n"
    "__rec=node,id=32,attr=31,data=main\n";
const std::string kRecord = "__rec=ctx,ref=32,attr=21,data=5\n";

std::string split(const std::string& data, const std::string& nodes = "{\"label\":\"main\"}") {
  return "{\"data\":[" + data +
         "],\"columns\":[\"path\",\"sum#time.duration\"],\"column_metadata\":[{\"is_value\":false},{\"is_"
         "value\":true}],"
         "\"nodes\":[" +
         nodes + "]}";
}

}  // namespace

TEST_CASE("caliper: bad input is refused or counted") {
  check_bad_inputs(
      "caliper",
      {
          {"no record", kAttributes, "error malformed: there is no record"},
          {"only a maximum",
           "__rec=node,id=20,attr=10,data=65,parent=5\n__rec=node,id=21,attr=8,data=max#time,parent=20\n"
           "__rec=ctx,attr=21,data=5\n",
           "error malformed: no column is a sum"},
          {"JSON without data", "{\"columns\":[]}", "error malformed: lacks its data"},
          {"a node out of range", split("[7,1]"), "error malformed: node 7 of 1"},
          {"a negative node", split("[-1,1]"), "error malformed: node -1"},
          {"more cells than columns", split("[0,1,2]"), "error malformed: more cells than 2"},
          {"a parent behind its child", split("[0,1]", "{\"label\":\"a\",\"parent\":1},{\"label\":\"b\"}"),
           "error malformed: does not stand before"},
          {"a parent that is the node", split("[0,1]", "{\"label\":\"a\",\"parent\":0}"),
           "error malformed: does not stand before"},
          {"nothing behind the JSON", split("[0,1]") + "x", "error malformed: "},
          {"a node that is not defined", kAttributes + kRecord + "__rec=ctx,ref=99,attr=21,data=5\n",
           "report malformed-line"},
          {"an attribute that is not defined", kAttributes + kRecord + "__rec=ctx,ref=32,attr=98,data=5\n",
           "report malformed-line"},
          {"a parent that is not defined",
           kAttributes + kRecord + "__rec=node,id=50,attr=31,data=x,parent=77\n", "report malformed-line"},
          {"a type defined anew", kAttributes + kRecord + "__rec=node,id=3,attr=31,data=x\n",
           "report malformed-line"},
          {"another kind of record", kAttributes + kRecord + "__rec=other,id=3\n", "report malformed-line"},
          {"the last line cut off", kAttributes + kRecord + "__rec=ctx,ref=9999,at", "report truncated"},
      });
}

TEST_CASE("caliper: 100,000 regions below each other are read") {
  std::string text = kAttributes + kRecord;
  for (int i = 0; i < 100'000; ++i)
    text += "__rec=node,id=" + std::to_string(100 + i) +
            ",attr=31,data=f,parent=" + std::to_string(i == 0 ? 32 : 99 + i) + "\n";
  text += "__rec=ctx,ref=100099,attr=21,data=2\n";
  const ReadOutcome read = read_with("caliper", text);
  REQUIRE(read.error == "");
  CHECK(total_of(*read.profiles[0], "sum#time.duration") == 7);
  CHECK(read.profiles[0]->tree().size() == 100'002);
}
