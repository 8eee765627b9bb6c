// Every generated file must be taken or refused as its name says, and what is taken must survive a round
// trip.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

#include "protocol/generated/psp_by_name.h"
#include "protocol/json_parse.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::protocol;
using nlohmann::json;

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Whether everything in `part` is in `whole` too; null stands for absent.
bool contains(const json& whole, const json& part) {
  if (part.is_object() && whole.is_object()) {
    for (const auto& [key, value] : part.items())
      if (!value.is_null() && key != "unknownField" &&
          !(whole.contains(key) && contains(whole.at(key), value)))
        return false;
    return true;
  }
  if (part.is_array() && whole.is_array()) {
    if (part.size() != whole.size()) return false;
    for (std::size_t i = 0; i < part.size(); ++i)
      if (!contains(whole[i], part[i])) return false;
    return true;
  }
  return whole == part;
}

}  // namespace

TEST_CASE("test data: every file is taken or refused as its name says", "[testdata]") {
  const char* folder = std::getenv("PROFD_PROTOCOL_TESTDATA");
  if (folder == nullptr || !std::filesystem::exists(folder)) {
    WARN("PROFD_PROTOCOL_TESTDATA is not set: run through ctest, which generates the data first");
    return;
  }
  std::size_t n_valid = 0;
  std::size_t n_invalid = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    INFO(name);
    const auto parsed = parse_json(text_of(entry.path()));
    REQUIRE(parsed);
    const std::string type = name.substr(0, name.find('-'));
    json recoded;
    Path::Root root(type);
    const bool ok = psp::recode(type, *parsed, recoded, root);
    INFO(root.error());
    if (name.find("-invalid-") != std::string::npos) {
      ++n_invalid;
      CHECK_FALSE(ok);
      CHECK(root.failed());
      continue;
    }
    ++n_valid;
    REQUIRE(ok);
    if (!contains(recoded, *parsed))
      FAIL_CHECK("lost in the round trip: " << parsed->dump() << " -> " << recoded.dump());
    json again;
    Path::Root second(type);
    CHECK(psp::recode(type, recoded, again, second));
    CHECK(again == recoded);
  }
  CHECK(n_valid > 1000);
  CHECK(n_invalid > 1000);
}
