#include "formats/support/zip.h"

#include "tests/support/catch.h"
#include "tests/unit/formats/make_archive.h"

using namespace profd;
using namespace profd::test;

namespace {

auto list(const std::string& bytes) {
  return list_zip(std::as_bytes(std::span(bytes)));
}

}  // namespace

TEST_CASE("zip members are listed in order and expand to their content") {
  const std::string zip = zip_of({{"a", std::string(9000, 'a')}, {"dir/", ""}, {"dir/b", "stored", false}});
  const auto members = list(zip);
  REQUIRE(members);
  REQUIRE(members->size() == 2);
  for (const auto& [i, content] : {std::pair{0, std::string(9000, 'a')}, {1, std::string("stored")}}) {
    const auto out =
        expand_member((*members)[static_cast<std::size_t>(i)], {{1u << 20, "expanded_bytes"}, false, {}});
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
      for (const ArchiveMember& member : *members)
        (void)expand_member(member, {{1u << 20, "expanded_bytes"}, false, {}}).has_value();
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
