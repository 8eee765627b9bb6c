#include "formats/support/varint_list.h"

#include <random>
#include <vector>

#include "tests/support/catch.h"

namespace {

using namespace profd::protobuf;

void put(std::vector<std::uint8_t>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::uint8_t>(value | 0x80));
  out.push_back(static_cast<std::uint8_t>(value));
}

// `behind`: bytes after the list that may be looked at.
std::optional<std::vector<std::uint32_t>> read(std::vector<std::uint8_t> bytes, std::size_t behind = 0) {
  const std::size_t n = bytes.size();
  for (std::size_t i = 0; i < behind; ++i) bytes.push_back(static_cast<std::uint8_t>(37 * i));
  bytes.shrink_to_fit();
  std::vector<std::uint32_t> values(n);
  const auto count =
      read_short_varints({bytes.data(), bytes.data() + n}, bytes.data() + bytes.size(), values.data());
  if (!count) return std::nullopt;
  values.resize(*count);
  return values;
}

}  // namespace

TEST_CASE("short varints are read as they were written, whatever their lengths and what stands behind") {
  std::mt19937 random(7);
  for (std::size_t n = 0; n < 200; ++n) {
    std::vector<std::uint32_t> wanted;
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < n; ++i) {
      wanted.push_back(static_cast<std::uint32_t>(random()) >> (11 + random() % 21));
      put(bytes, wanted.back());
    }
    CAPTURE(n);
    for (const std::size_t behind : {0, 1, 3, 70}) CHECK(read(bytes, behind) == wanted);
  }
}

TEST_CASE("the values where a varint gets longer are read") {
  for (const std::uint32_t value : {0u, 127u, 128u, 16383u, 16384u, (1u << 21) - 1}) {
    std::vector<std::uint8_t> bytes;
    put(bytes, value);
    CHECK(read(bytes) == std::vector{value});
  }
}

TEST_CASE("a list with a longer varint, or one that does not end, is not read") {
  std::vector<std::uint8_t> some(100, 5);
  for (const std::size_t at : {std::size_t{0}, std::size_t{50}, std::size_t{63}, some.size()}) {
    CAPTURE(at);
    std::vector<std::uint8_t> bytes(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(at));
    put(bytes, 1u << 21);
    bytes.insert(bytes.end(), some.begin(), some.end());
    CHECK_FALSE(read(bytes, 80));
  }
  some.push_back(0x80);
  CHECK_FALSE(read(some));
  CHECK_FALSE(read(some, 80));
  CHECK_FALSE(read(std::vector<std::uint8_t>(64, 0x80), 80));
  CHECK_FALSE(read(std::vector<std::uint8_t>(200, 0xFF)));
}
