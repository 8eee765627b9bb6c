#include "formats/support/tar.h"

#include "tests/support/catch.h"
#include "tests/unit/formats/make_archive.h"

using namespace profd;
using namespace profd::test;

namespace {

auto list(const std::string& bytes, ImportReport& report, bool partial = false) {
  return list_tar(std::as_bytes(std::span(bytes)), partial, report);
}

}  // namespace

TEST_CASE("tar members are listed with long names from pax headers") {
  ImportReport report;
  std::string long_name(150, 'd');
  long_name.append("/file");
  const std::string tar = tar_of({{"a", "one"}, {long_name, std::string(1000, 'x')}, {"c", ""}});
  CHECK(is_tar(std::as_bytes(std::span(tar))));
  const auto members = list(tar, report);
  REQUIRE(members);
  REQUIRE(members->size() == 3);
  CHECK((*members)[1].name == long_name);
  CHECK((*members)[1].data.size() == 1000);
  CHECK((*members)[2].data.empty());
}

TEST_CASE("a tar that ends inside a member is an error, or listed with a report when asked for") {
  ImportReport report;
  const std::string tar = tar_of({{"a", std::string(2000, 'x')}}).substr(0, 1500);
  const auto strict = list(tar, report);
  REQUIRE_FALSE(strict);
  CHECK(strict.error().code == ErrorCode::truncated);
  const auto members = list(tar, report, true);
  REQUIRE(members);
  CHECK((*members)[0].data.size() == 1500 - 512);
  CHECK(report.has_losses());
}

TEST_CASE("a tar whose header checksums are wrong is listed, and said") {
  std::string tar = tar_of({{"a", "one"}, {"b", "two"}});
  tar.replace(148, 6, "000001");
  CHECK(is_tar(std::as_bytes(std::span(tar))));
  ImportReport report;
  const auto members = list(tar, report);
  REQUIRE(members);
  REQUIRE(members->size() == 2);
  CHECK((*members)[1].name == "b");
  REQUIRE(report.rows().size() == 1);
  CHECK(report.rows()[0].kind == "tar-checksum");
  CHECK(report.rows()[0].first_offset == 0u);
  // Where the next header begins is not to be told from this one.
  tar.replace(124, 11, "not a size.");
  CHECK_FALSE(is_tar(std::as_bytes(std::span(tar))));
  CHECK_FALSE(list(tar, report));
}

TEST_CASE("a tar whose checksums count bytes as signed is as good as any") {
  std::string tar = tar_of({{"caf\xC3\xA9", "one"}});
  unsigned sum = 0;
  for (std::size_t i = 0; i < 512; ++i)
    sum += static_cast<unsigned>(i >= 148 && i < 156 ? ' ' : static_cast<signed char>(tar[i]));
  for (std::size_t i = 154; i-- > 148; sum /= 8) tar[i] = static_cast<char>('0' + sum % 8);
  ImportReport report;
  REQUIRE(list(tar, report));
  CHECK(report.rows().empty());
}

TEST_CASE("a tar with any header byte changed is listed or refused, never read out of bounds") {
  const std::string tar = tar_of({{"a", "one"}, {std::string(150, 'd'), "two"}});
  for (std::size_t i = 0; i < tar.size(); ++i) {
    for (const char value : {'\x7F', '\xFF', '7'}) {
      std::string changed = tar;
      changed[i] = value;
      ImportReport report;
      const auto members = list(changed, report);
      if (!members) CHECK(members.error().offset.value_or(0) <= tar.size());
    }
  }
}
