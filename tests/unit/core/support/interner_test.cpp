#include "core/support/interner.h"

#include <cstring>
#include <map>
#include <random>
#include <string>

#include "core/support/hash.h"
#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("a row set knows every row again, whatever the hashes are") {
  std::mt19937_64 random(3);
  for (const std::uint64_t mask :
       {~std::uint64_t{0}, std::uint64_t{0xFFFF}, std::uint64_t{1} << 40, std::uint64_t{0}}) {
    RowSet set;
    if (random() % 2 == 0) set.reserve(100);
    std::vector<std::uint64_t> rows;
    std::map<std::uint64_t, std::uint32_t> expected;
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t value = random() % 1000;
      const auto next = static_cast<std::uint32_t>(rows.size());
      const std::uint32_t row =
          set.find_or_add(mix64(value) & mask, next, [&](std::uint32_t r) { return rows[r] == value; });
      if (row == next) rows.push_back(value);
      REQUIRE(row == expected.emplace(value, next).first->second);
    }
    CHECK(set.size() == expected.size());
  }
}

// Colours of flame graphs come from it, so it stays what it is.
TEST_CASE("the hash of a text is that of its bytes, eight at a time, and of nothing beside them") {
  std::mt19937 random(4);
  for (std::size_t size = 0; size < 40; ++size) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(random());
    std::uint64_t expected = size * 0x9E3779B97F4A7C15ull + 1;
    for (std::size_t at = 0; at < size; at += 8) {
      std::uint64_t word = 0;
      for (std::size_t i = at; i < std::min(at + 8, size); ++i)
        word |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * (i - at));
      expected = hash_combine(expected, word);
    }
    expected = mix64(expected);
    CHECK(hash_bytes(text) == expected);
    for (const char beside : {'\0', 'x'}) {
      const std::string around = std::string(9, beside) + text + std::string(9, beside);
      CHECK(hash_bytes(std::string_view(around).substr(9, size)) == expected);
    }
  }
}
