#include "server/cli/path_text.h"

#include "tests/support/catch.h"

using namespace profd;
using Lines = std::vector<std::string>;

TEST_CASE("a path shows its root and as much of its end as fits", "[path_text]") {
  CHECK(path_texts({{"main", "a", "b"}}, 40) == Lines{"main › a › b"});
  CHECK(path_texts({{"main", "f", "f", "f"}}, 40) == Lines{"main › f ×3"});
  CHECK(path_texts({{"main", "first", "second", "third", "leaf"}}, 24) == Lines{"main › … › third › leaf"});
  CHECK(path_texts({{"a_leaf_that_is_longer"}}, 10) == Lines{"a_leaf_th…"});
  CHECK(path_texts({{}}, 10) == Lines{""});
}

TEST_CASE("paths that differ where nothing is shown say where they differ", "[path_text]") {
  CHECK(path_texts({{"main", "read", "walk", "parse", "decode", "copy"},
                    {"main", "write", "walk", "parse", "decode", "copy"}},
                   38) == Lines{"main › read › … › decode › copy", "main › write › … › decode › copy"});
  // One is the end of the other.
  CHECK(path_texts(
            {{"main", "x", "walk", "parse", "decode", "copy"}, {"main", "walk", "parse", "decode", "copy"}},
            30) == Lines{"main › x › … › copy", "main › … › decode › copy"});
}
