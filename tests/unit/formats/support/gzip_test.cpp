#include "formats/support/gzip.h"

#include <random>

#include "tests/support/catch.h"
#include "tests/unit/formats/make_archive.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string noise(std::size_t size) {
  std::mt19937 random(7);
  std::string out;
  while (out.size() < size) out += static_cast<char>(random() % 200);
  return out;
}

Result<Expanded> expand(const std::string& bytes, ImportReport& report, bool partial = false,
                        std::uint64_t limit = 1u << 30) {
  return gunzip(std::as_bytes(std::span(bytes)), {{limit, "expanded_bytes"}, partial, {}}, report);
}

std::string text(const Expanded& e) {
  return {reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size()};
}

}  // namespace

TEST_CASE("members one after another are one content, whatever size the last one claims") {
  ImportReport report;
  const std::string big = noise(3u << 20), small = "tail";
  for (const auto& parts :
       {std::vector{big}, {big, small}, {small, big}, {std::string(), big}, {std::string()}}) {
    std::string packed, plain;
    for (const std::string& part : parts) {
      packed += gzip_of(part);
      plain += part;
    }
    const auto out = expand(packed, report);
    REQUIRE(out);
    CHECK(text(*out) == plain);
    CHECK_FALSE(out->truncated);
  }
  CHECK(report.rows().empty());
}

TEST_CASE("a size field that lies costs time, not correctness") {
  ImportReport report;
  const std::string plain(5u << 20, 'x');
  std::string packed = gzip_of(plain);
  for (const unsigned char lie : {0x00, 0xFF}) {
    std::string lying = packed;
    for (std::size_t i = lying.size() - 4; i < lying.size(); ++i) lying[i] = static_cast<char>(lie);
    // The size is part of the checksum trailer: the member is damaged, and all of it is there.
    CHECK_FALSE(expand(lying, report));
    const auto out = expand(lying, report, true);
    REQUIRE(out);
    CHECK(text(*out) == plain);
    CHECK(out->truncated);
  }
}

TEST_CASE("a changed byte is damage with its place") {
  ImportReport report;
  std::string packed = gzip_of(noise(100000));
  packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 0x55);
  const auto out = expand(packed, report);
  REQUIRE_FALSE(out);
  CHECK(out.error().code == ErrorCode::malformed);
  CHECK(out.error().offset.value() <= packed.size());
}

TEST_CASE("zero padding after gzip data is fine, other bytes are reported") {
  ImportReport report;
  CHECK(expand(gzip_of("x") + std::string(512, '\0'), report));
  CHECK(report.rows().empty());
  CHECK(expand(gzip_of("x") + "rubbish", report));
  REQUIRE(report.rows().size() == 1);
  CHECK(report.rows()[0].count == 7);
}

TEST_CASE("output of exactly the limit passes and one byte more does not") {
  ImportReport report;
  const std::string packed = gzip_of(std::string(100000, 'q'));
  CHECK(expand(packed, report, false, 100000));
  const auto out = expand(packed, report, false, 99999);
  REQUIRE_FALSE(out);
  CHECK(out.error().code == ErrorCode::limit);
}
