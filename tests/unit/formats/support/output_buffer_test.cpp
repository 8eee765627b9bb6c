#include "formats/support/output_buffer.h"

#include <algorithm>
#include <cstring>

#include "tests/support/catch.h"

using namespace profd;

namespace {

bool holds(const std::byte* data, std::size_t n, int value) {
  return std::all_of(data, data + n, [&](std::byte b) { return b == static_cast<std::byte>(value); });
}

}  // namespace

TEST_CASE("an output buffer keeps what was written while it grows from the heap into memory of its own") {
  OutputBuffer buffer;
  std::size_t used = 0;
  int value = 0;
  for (const std::size_t capacity : {std::size_t{1}, std::size_t{100'000}, std::size_t{3} << 20,
                                     std::size_t{4} << 20, std::size_t{9} << 20}) {
    CAPTURE(capacity);
    REQUIRE(buffer.grow(capacity, used));
    REQUIRE(buffer.capacity() >= capacity);
    CHECK(holds(buffer.data(), used, value));
    used = capacity;
    std::memset(buffer.data(), ++value, used);
  }
  const auto [data, owner] = std::move(buffer).freeze(5000);
  CHECK(holds(data, 5000, value));
  CHECK(owner.use_count() == 1);
}

TEST_CASE("a frozen buffer of the heap lives as long as its owner") {
  std::shared_ptr<const void> kept;
  const std::byte* bytes = nullptr;
  {
    OutputBuffer buffer;
    REQUIRE(buffer.grow(200'000, 0));
    std::memset(buffer.data(), 7, 150'000);
    auto [data, owner] = std::move(buffer).freeze(150'000);
    bytes = data;
    kept = owner;
  }
  CHECK(holds(bytes, 150'000, 7));
}

TEST_CASE("a buffer that nothing was asked of is empty") {
  const auto [data, owner] = OutputBuffer().freeze(0);
  CHECK(data == nullptr);
  CHECK(owner == nullptr);
}
