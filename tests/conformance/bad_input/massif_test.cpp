#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"

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
