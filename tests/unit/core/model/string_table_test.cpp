#include "core/model/string_table.h"

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("parts of texts that the table holds can be added to it") {
  StringInterner strings;
  StringId whole = strings.intern("a name that is longer than the ones which are cut off from it");
  std::string expected(strings[whole]);
  while (expected.size() > 1) {
    expected.pop_back();
    whole = strings.intern(strings[whole].substr(0, expected.size()));
    REQUIRE(strings[whole] == expected);
  }
  const StringTable table = std::move(strings).finish();
  CHECK(table.size() == 62);
  CHECK(table[StringId{1u}] == "a name that is longer than the ones which are cut off from it");
}

TEST_CASE("an equal text has the id it had before, invalid bytes are repaired") {
  StringInterner strings;
  CHECK(strings.intern("").v == 0);
  const StringId first = strings.intern("f");
  CHECK(strings.intern("g") != first);
  CHECK(strings.intern("f") == first);
  CHECK(strings[strings.intern("\xff")] == "\xef\xbf\xbd");
  CHECK(strings.n_repaired() == 1);
}
