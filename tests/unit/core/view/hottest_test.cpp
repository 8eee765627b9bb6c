#include "core/view/hottest.h"

#include "tests/support/catch.h"
#include "tests/support/format_tree.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("the heaviest paths are where most value ends") {
  const auto selection = select_text("main;a;b 5\nmain;a 9\nmain;c 7\nmain;a;b[b.cc:1] 1\nx 8");
  const auto hot = heaviest_paths(*selection, 3, {});
  REQUIRE(hot);
  CHECK(hot->exact);
  REQUIRE(hot->paths.size() == 3);
  CHECK(hot->paths[0].path == keys_called(*selection, {"main", "a"}));
  CHECK(hot->paths[0].self == Value{9L});
  CHECK(hot->paths[1].path == keys_called(*selection, {"x"}));
  CHECK(hot->paths[2].self == Value{7L});
  CHECK(heaviest_paths(*selection, 100, {})->paths.size() == 5);
}

TEST_CASE("neighbours are the heaviest callers and callees") {
  const auto selection = select_text("a;f;x 5\nb;f;y 9\nc;f 7\nd;f;x 1\nf;f 4");
  const auto around = neighbours_of(*selection, keys_called(*selection, {"f"})[0], 3, {});
  REQUIRE(around);
  CHECK(around->total == Value{26L});
  CHECK(around->n_callers == 4);
  CHECK(around->no_caller == Value{4L});
  CHECK(around->no_callee == Value{11L});
  REQUIRE(around->callers.size() == 3);
  CHECK(around->callers[0].key == keys_called(*selection, {"b"})[0]);
  CHECK(around->callers[0].total == Value{9L});
  REQUIRE(around->callees.size() == 2);
  CHECK(around->callees[1].total == Value{6L});
}
