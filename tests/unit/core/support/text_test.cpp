#include "core/support/text.h"

#include <string>

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("a broken byte is found wherever it stands in a text, and a whole character is none") {
  const std::string good[] = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x8E\x89"};
  const std::string bad[] = {"\x80", "\xC3", "\xC0\xAF", "\xE2\x82", "\xED\xA0\x80", "\xF5\x80\x80\x80",
                             "\xFF"};
  for (std::size_t before = 0; before < 20; ++before) {
    for (std::size_t after = 0; after < 20; ++after) {
      const std::string left(before, 'x'), right(after, 'y');
      for (const std::string& text : good) CHECK(is_valid_utf8(left + text + right));
      for (const std::string& text : bad) {
        CHECK_FALSE(is_valid_utf8(left + text + right));
        CHECK(is_valid_utf8(repair_utf8(left + text + right)));
      }
      for (const std::string& text : good) CHECK_FALSE(is_valid_utf8(text + left + "\xC3" + right));
    }
  }
}
