// Four bytes an offset, and none of them wrong where a file crosses 4 GiB.
#include "formats/pprof/sample_offsets.h"

#include <vector>

#include "tests/support/catch.h"

using profd::pprof::SampleOffsets;

TEST_CASE("offsets of samples come back as they went in, beyond 4 GiB too") {
  constexpr std::uint64_t kFourGib = std::uint64_t{1} << 32;
  // The last but one crosses twice at once, as a huge table between samples would.
  const std::vector<std::uint64_t> offsets{
      0, 7, kFourGib - 1, kFourGib, kFourGib, kFourGib + 5, 2 * kFourGib - 1, 4 * kFourGib, 4 * kFourGib + 1};
  SampleOffsets stored;
  for (const std::uint64_t offset : offsets) stored.push_back(offset);
  REQUIRE(stored.size() == offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) CHECK(stored[i] == offsets[i]);
}

TEST_CASE("offsets that begin beyond 4 GiB are kept whole") {
  SampleOffsets stored;
  stored.push_back((std::uint64_t{3} << 32) + 9);
  CHECK(stored[0] == (std::uint64_t{3} << 32) + 9);
}
