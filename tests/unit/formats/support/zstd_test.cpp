#include "formats/support/zstd.h"

#include "tests/support/catch.h"
#include "tests/unit/formats/make_archive.h"

using namespace profd;
using namespace profd::test;

namespace {

Result<Expanded> expand(const std::string& bytes, ImportReport& report, bool partial = false,
                        std::uint64_t limit = 1u << 30) {
  return unzstd(std::as_bytes(std::span(bytes)), {{limit, "expanded_bytes"}, partial, {}}, report);
}

std::string text(const Expanded& e) {
  return {reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size()};
}

}  // namespace

TEST_CASE("zstd frames one after another are one content") {
  ImportReport report;
  const std::string big(5u << 20, 'z');
  const auto out = expand(zstd_of(big) + zstd_of("tail") + zstd_of(""), report);
  REQUIRE(out);
  CHECK(text(*out) == big + "tail");
}

TEST_CASE("a zstd stream cut anywhere is an error, or a prefix when asked for") {
  std::string plain;
  for (int i = 0; i < 20000; ++i) plain += std::to_string(i * 2654435761u);
  const std::string packed = zstd_of(plain);
  for (std::size_t n : {std::size_t{5}, packed.size() / 2, packed.size() - 1}) {
    ImportReport report;
    CHECK_FALSE(expand(packed.substr(0, n), report));
    const auto out = expand(packed.substr(0, n), report, true);
    REQUIRE(out);
    CHECK(out->truncated);
    CHECK(plain.starts_with(text(*out)));
    CHECK(report.has_losses());
  }
}

TEST_CASE("zstd output of exactly the limit passes and one byte more does not") {
  ImportReport report;
  const std::string packed = zstd_of(std::string(100000, 'q'));
  CHECK(expand(packed, report, false, 100000));
  const auto out = expand(packed, report, false, 99999);
  REQUIRE_FALSE(out);
  CHECK(out.error().code == ErrorCode::limit);
}
