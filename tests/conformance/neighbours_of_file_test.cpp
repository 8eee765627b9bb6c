// Not run by itself: prints the callers and callees of every function of the file PROFD_NEIGHBOURS_OF for
// tests/e2e/stated_agreement.py, as no command shows more than the tree.
#include <cstdlib>

#include <fmt/format.h>

#include "core/view/hottest.h"
#include "core/view/table.h"
#include "tests/conformance/open_path.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("neighbours of the functions of a file", "[.]") {
  const char* const path = std::getenv("PROFD_NEIGHBOURS_OF");
  REQUIRE(path != nullptr);
  const auto opened = open_path(path);
  REQUIRE(opened.has_value());
  const ProfilePtr& profile = opened->profiles.at(0);
  const auto selection = select(profile, ViewSpec{}, {});
  REQUIRE(selection.has_value());
  const auto name = [&](Key key) {
    const KeyPlace place = key_place(*profile, *(*selection)->boxes->keys, key);
    return fmt::format("{}\t{}\t{}", key_name(*profile, *(*selection)->boxes->keys, key), place.file,
                       place.line);
  };
  const FlatView functions = flat_view(**selection, {}).value();
  for (const Key key : functions.key) {
    const Neighbours around = neighbours_of(**selection, key, 100'000, {}).value();
    if (around.calls_estimated) continue;
    const auto print = [&](const char* what, const std::vector<Neighbour>& list) {
      for (const Neighbour& other : list)
        fmt::print("{}\t{}\t{}\t{}\n", what, name(key), name(other.key), as_double(other.total));
    };
    fmt::print("function\t{}\n", name(key));
    print("caller", around.callers);
    print("callee", around.callees);
  }
}
