#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("massif: bad input is refused or counted") {
  const std::string head = "desc: x\ncmd: ./a\ntime_unit: i\n";
  const std::string sizes = "snapshot=0\ntime=1\nmem_heap_B=10\nmem_heap_extra_B=1\nmem_stacks_B=2\n";
  check_bad_inputs(
      "massif",
      {
          {"another file", "hello\n", "error malformed: before the first snapshot"},
          {"no snapshot", head, "error malformed: no snapshot"},
          {"a snapshot that is no number", head + "snapshot=x\n", "error malformed: number of a snapshot"},
          {"a size that is no number", head + "snapshot=0\nmem_heap_B=x\n", "error malformed: no number"},
          {"a size above int64", head + "snapshot=0\nmem_heap_B=9223372036854775808\n",
           "error malformed: no number"},
          {"a snapshot without its tree", head + sizes, "error truncated: cut off"},
          {"a tree that is not there", head + sizes + "heap_tree=peak\n", "error truncated: cut off"},
          {"a tree of an unknown kind", head + sizes + "heap_tree=odd\n", "error malformed: neither empty"},
          {"a tree that does not sum", head + sizes + "heap_tree=peak\nn0: 9 malloc\n",
           "error malformed: does not sum"},
          {"callers with more", head + sizes + "heap_tree=peak\nn1: 10 malloc\n n0: 11 0x1: f (a.c:1)\n",
           "error malformed: more than what they call"},
          {"a node too deep", head + sizes + "heap_tree=peak\nn1: 10 malloc\n   n0: 1 0x1: f (a.c:1)\n",
           "error malformed: deeper"},
          {"a node without a size", head + sizes + "heap_tree=peak\nn1: x malloc\n",
           "error malformed: no size"},
          {"a node without a number", head + sizes + "heap_tree=peak\nnx: 1 malloc\n",
           "error malformed: number of callers"},
          {"a missing caller", head + sizes + "heap_tree=peak\nn2: 10 malloc\n n0: 1 0x1: f (a.c:1)\n",
           "error truncated: cut off"},
          {"a line of an unknown kind", head + sizes + "wat=3\nheap_tree=empty\n", "report unknown-line"},
      });
}

TEST_CASE("massif: the trees of --xtree-memory are one profile for each event") {
  const std::string body = "time=9\nmem_heap_B=%\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=detailed\n";
  const auto snapshot = [&](const std::string& number, const std::string& value, const std::string& event) {
    std::string text = "#-----------\nsnapshot=" + number + "\n#-----------\n" + body;
    text.replace(text.find('%'), 1, value);
    return text + "n1: " + value + " " + event + "\n n0: " + value + " 0x109CA8: main (app.cc:33)\n";
  };
  const auto read = read_with("massif", "desc: xtree.produce_report\ncmd: ./app\ntime_unit: ms\n" +
                                            snapshot("0", "12", "curB : currently allocated Bytes") +
                                            snapshot("1", "3700", "totBk : total allocated Blocks"));
  REQUIRE(read.error == "");
  REQUIRE(read.profiles.size() == 2);
  CHECK(read.profiles[0]->info().name == "curB");
  CHECK(read.profiles[1]->metrics().front().name == "totBk");
  CHECK(read.profiles[1]->metrics().front().unit == "count");
  CHECK(self_by_path(*read.profiles[0], "curB") == std::map<std::string, double>{{"main:33", 12}});
}
