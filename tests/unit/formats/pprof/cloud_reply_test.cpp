// Replies of the Cloud Profiler API: gzipped pprof in base64 inside JSON.
#include "formats/pprof/cloud_reply.h"

#include "tests/support/catch.h"
#include "tests/support/pprof_file.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string base64(const std::string& bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      out.push_back(i + k <= bytes.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=');
  }
  return out;
}

bool is_reply(std::string_view text) {
  return pprof::is_cloud_reply(std::as_bytes(std::span(text)));
}

}  // namespace

TEST_CASE("pprof: a reply of Cloud Profiler is told by its profileBytes") {
  CHECK(is_reply(R"({"profileType":"CPU","profileBytes":"H4s)"));
  CHECK(is_reply(R"({"profiles":[{"name":"projects/a/profiles/1","profileBytes":"H4sIAAAAAAAA)"));
  CHECK_FALSE(is_reply(R"({"profiles":[{"name":"a"}]})"));
  CHECK_FALSE(is_reply(R"({"profileBytes":7})"));
  CHECK_FALSE(is_reply("profileBytes"));
}

TEST_CASE("pprof: bytes of a reply are read packed or not, and its labels kept") {
  const auto read =
      read_with("pprof", R"({"profileType":"WALL","deployment":{"target":"web","labels":{"zone":"a"}},
    "profileBytes":")" + base64(PprofParts{}.file()) +
                             "\"}");
  REQUIRE(read.error.empty());
  REQUIRE(read.profiles.size() == 1);
  using Property = std::pair<std::string, std::string>;
  CHECK(read.profiles[0]->info().properties ==
        std::vector<Property>{{"target", "web"}, {"zone", "a"}, {"profile_type", "WALL"}});
}

TEST_CASE("pprof: a bad reply is refused") {
  const auto error = [](const std::string& text) { return read_with("pprof", text).error; };
  CHECK(error(R"({"profileBytes":"H4s!"})").find("no base64") != std::string::npos);
  CHECK(error(R"({"profileBytes":"AAAAA"})").find("no base64") != std::string::npos);
  CHECK(error(R"({"profileBytes":"H4sIAAAA"})") != "");
  CHECK(error(R"({"profileBytes":"","profiles":[)") != "");
}
