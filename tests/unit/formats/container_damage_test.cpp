// Where a container carries checksums, one flipped bit is an error or a line in the report, and never
// another total.
#include <functional>
#include <set>

#include <zstd.h>

#include "formats/open.h"
#include "tests/support/catch.h"
#include "tests/unit/formats/make_archive.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string folded(int seed) {
  std::string text;
  for (int i = 0; i < 12; ++i)
    text += "main;f" + std::to_string(seed * 31 + i * 7) + ";g" + std::to_string(i) + " " +
            std::to_string(100 + seed + i * 13) + "\n";
  return text;
}

std::string zstd_with_checksum(const std::string& content) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(content.size()), '\0');
  out.resize(ZSTD_compress2(context, out.data(), out.size(), content.data(), content.size()));
  ZSTD_freeCCtx(context);
  return out;
}

struct Seen {
  bool error = false, said = false;
  std::vector<Value> totals;
};

Seen look(const std::string& bytes, bool partial) {
  SerialExecutor executor;
  OpenOptions options;
  options.partial = partial;
  const auto opened = open_profiles(memory_source(bytes, "cpu"), options, executor, {});
  Seen seen;
  if (!opened) return {true, true, {}};
  seen.said = opened->report.has_losses();
  for (const ProfilePtr& profile : opened->profiles) seen.totals.push_back(profile->total(MetricId{0u}));
  return seen;
}

void check_every_bit(const std::string& good, const std::function<bool(std::size_t byte)>& covered) {
  const Seen whole = look(good, false);
  REQUIRE_FALSE(whole.error);
  REQUIRE_FALSE(whole.said);
  std::size_t n_told = 0;
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    if (!covered(bit / 8)) continue;
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    for (const bool partial : {false, true}) {
      const Seen seen = look(bad, partial);
      if (seen.said) {
        ++n_told;
      } else if (seen.totals != whole.totals) {
        FAIL("bit " << bit << (partial ? ", partial" : "") << ": another total, and nothing said");
      }
    }
  }
  CHECK(n_told > 0);
}

bool everywhere(std::size_t) {
  return true;
}

}  // namespace

TEST_CASE("a flipped bit in gzip data never changes a total in silence") {
  check_every_bit(gzip_of(folded(1)), everywhere);
  check_every_bit(gzip_of(folded(1)) + gzip_of(folded(2)), everywhere);
}

TEST_CASE("a flipped bit in zstd data with a checksum never changes a total in silence") {
  check_every_bit(zstd_with_checksum(folded(1)) + zstd_with_checksum(folded(2)), everywhere);
}

TEST_CASE("a flipped bit in bzip2 data never changes a total in silence") {
  check_every_bit(bzip2_of(folded(1)) + bzip2_of(folded(2)), everywhere);
}

TEST_CASE("a flipped bit in xz data never changes a total in silence") {
  check_every_bit(xz_of(folded(1)), everywhere);
}

TEST_CASE("a flipped bit in a zip archive never changes a total in silence") {
  check_every_bit(zip_of({{"a.folded", folded(1), true}, {"b.folded", folded(2), false}}), everywhere);
}

TEST_CASE("a flipped bit in the header of a tar member never changes a total in silence") {
  const std::string tar = tar_of({{"a.folded", folded(1)}, {"b.folded", folded(2)}});
  std::set<std::size_t> headers;
  for (std::size_t at = 0; at + 512 <= tar.size(); at += 512)
    if (tar.compare(at + 257, 5, "ustar") == 0) headers.insert(at / 512);
  REQUIRE(headers.size() == 2);
  check_every_bit(tar, [&](std::size_t byte) { return headers.count(byte / 512) != 0; });
}
