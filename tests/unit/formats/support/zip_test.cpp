#include "formats/support/zip.h"

#include "tests/support/catch.h"
#include "tests/unit/formats/make_archive.h"

using namespace profd;
using namespace profd::test;

namespace {

Result<std::vector<ArchiveMember>> list(const std::string& bytes) {
  ImportReport report;
  return list_zip(std::as_bytes(std::span(bytes)), false, report);
}

Result<Expanded> expand(const ArchiveMember& member) {
  ImportReport report;
  return expand_member(member, {{1u << 20, "expanded_bytes"}, false, {}, nullptr}, report);
}

}  // namespace

TEST_CASE("zip members are listed in order and expand to their content") {
  const std::string zip = zip_of({{"a", std::string(9000, 'a')}, {"dir/", ""}, {"dir/b", "stored", false}});
  const auto members = list(zip);
  REQUIRE(members);
  REQUIRE(members->size() == 2);
  for (const auto& [i, content] : {std::pair{0, std::string(9000, 'a')}, {1, std::string("stored")}}) {
    const auto out = expand((*members)[static_cast<std::size_t>(i)]);
    REQUIRE(out);
    CHECK(std::string(reinterpret_cast<const char*>(out->bytes.data()), out->bytes.size()) == content);
  }
}

TEST_CASE("a zip cut anywhere or with any byte changed is listed or refused, never read out of bounds") {
  const std::string zip = zip_of({{"a", std::string(300, 'a')}, {"b", "stored", false}});
  for (std::size_t n = 0; n < zip.size(); ++n) CHECK_FALSE(list(zip.substr(0, n)).has_value());
  for (std::size_t i = 0; i < zip.size(); ++i) {
    for (const char value : {'\0', '\x7F', '\xFF'}) {
      std::string changed = zip;
      changed[i] = value;
      const auto members = list(changed);
      if (!members) {
        CHECK(members.error().offset.value_or(0) <= zip.size());
        continue;
      }
      for (const ArchiveMember& member : *members) (void)expand(member).has_value();
    }
  }
}

TEST_CASE("zip64 is refused by name") {
  std::string zip = zip_of({{"a", "x"}});
  for (std::size_t i = zip.size() - 6; i < zip.size() - 2; ++i) zip[i] = '\xFF';
  const auto members = list(zip);
  REQUIRE_FALSE(members);
  CHECK(members.error().code == ErrorCode::unsupported);
  CHECK(members.error().message.find("zip64") != std::string::npos);
}

TEST_CASE("a stored zip member whose bytes changed is an error, or read and reported when asked for") {
  std::string zip = zip_of({{"a", "main;f 10", false}});
  zip[zip.find("10")] = '9';
  const auto members = list(zip);
  REQUIRE(members);
  const auto strict = expand(members->front());
  REQUIRE_FALSE(strict);
  CHECK(strict.error().message.find("checksum of a does not match") != std::string::npos);
  ImportReport report;
  CHECK(expand_member(members->front(), {{100, "expanded_bytes"}, true, {}, nullptr}, report));
  CHECK(report.has_losses());
}

TEST_CASE("a zip directory that leaves a member out is an error, or a loss when asked for") {
  const std::string zip = zip_of({{"a", "one", false}, {"b", "two", false}});
  for (const std::size_t count : {zip.size() - 12, zip.size() - 14}) {
    std::string changed = zip;
    changed[count] = 1;
    CHECK_FALSE(list(changed));
    ImportReport report;
    CHECK(list_zip(std::as_bytes(std::span(changed)), true, report));
    CHECK(report.has_losses());
  }
  // As if it were a folder, which is left out.
  std::string renamed = zip;
  renamed[zip.rfind('b')] = '/';
  CHECK_FALSE(list(renamed));
}
