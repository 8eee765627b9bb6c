// Boxes by names, as links and earlier revisions know them.
#include "core/view/path_of_names.h"

#include "core/view/selection.h"
#include "core/view/spec.h"
#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

using Names = std::vector<std::string>;

// The names of the boxes that these names lead to.
Names reached(const std::string& profile, const Names& names, Shape shape = Shape::top_down,
              bool hashed = false) {
  const ProfilePtr read = profile_from_text(profile);
  const SelectionPtr selection = *select(read, *parse_view_spec("top-down"), {});
  const auto path = path_of_names(*selection, shape, {}, {names, hashed}, StopToken{});
  REQUIRE(path);
  Names out;
  for (const Key key : *path) out.push_back(key_name(*read, *selection->boxes->keys, key));
  return out;
}

}  // namespace

TEST_CASE("names lead to a box, or as far down as there is one") {
  const std::string profile = "main;load;parse 3\nmain;serve 2\n";
  CHECK(reached(profile, {"main", "load", "parse"}) == Names{"main", "load", "parse"});
  CHECK(reached(profile, {"main", "serve", "parse"}) == Names{"main", "serve"});
  CHECK(reached(profile, {"other", "load"}).empty());
  CHECK(reached(profile, {}).empty());
  CHECK(reached(profile, {"parse", "load"}, Shape::bottom_up) == Names{"parse", "load"});
}

TEST_CASE("hashes of names lead where the names do") {
  const std::string profile = "main;\xC3\xA9t\xC3\xA9;\xF0\x9F\x94\xA5 3\n";
  CHECK(reached(profile, {name_hash("main"), name_hash("\xC3\xA9t\xC3\xA9"), name_hash("\xF0\x9F\x94\xA5")},
                Shape::top_down, true) == Names{"main", "\xC3\xA9t\xC3\xA9", "\xF0\x9F\x94\xA5"});
  CHECK(reached(profile, {"main"}, Shape::top_down, true).empty());
}

// What the page's own function gives, by Node.
TEST_CASE("hashes are those of the page") {
  CHECK(name_hash("") == "ztntfp");
  CHECK(name_hash("main.parseOrders") == "4fzo20");
  CHECK(name_hash("\xC3\xA9t\xC3\xA9") == "g5ouyh");
  CHECK(name_hash("\xF0\x9F\x94\xA5") == "1eodxyu");
}

TEST_CASE("of siblings of one name the widest is meant") {
  const std::string profile =
      "main;work[module=a.so] 3\nmain;work[module=b.so];below 5\nmain;work[module=c.so] 1\n";
  CHECK(reached(profile, {"main", "work", "below"}) == Names{"main", "work", "below"});
}
