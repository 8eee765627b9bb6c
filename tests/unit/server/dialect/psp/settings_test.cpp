#include "server/dialect/psp/settings.h"

#include <algorithm>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "server/engine/project_file.h"
#include "tests/support/catch.h"

using namespace profd;
using nlohmann::json;

namespace {

// First cells of the table below a heading of docs/settings.md.
std::set<std::string> documented(const std::string& heading) {
  std::ifstream page(PROFD_SOURCE_DIR "/docs/settings.md");
  REQUIRE(page);
  std::set<std::string> names;
  std::string line;
  bool here = false;
  while (std::getline(page, line)) {
    if (line.rfind("## ", 0) == 0) here = line == "## " + heading;
    if (here && line.rfind("| `", 0) == 0) names.insert(line.substr(3, line.find('`', 3) - 3));
  }
  return names;
}

}  // namespace

TEST_CASE("the page on settings has every key that is read, and no other") {
  std::set<std::string> settings;
  for (const auto name : setting_names()) settings.emplace(name);
  CHECK(documented("What a client sets") == settings);
  std::set<std::string> keys;
  for (const auto name : project_file_keys()) keys.emplace(name);
  for (const auto name : mapping_keys()) keys.insert("map." + std::string(name));
  CHECK(documented(".profd.toml") == keys);
}

TEST_CASE("settings stand at the top or under profd; what is wrong is said and the rest holds") {
  const auto top =
      read_settings(json{{"codeLens", true}, {"threshold", 2}, {"metric", nullptr}, {"other", 1}});
  REQUIRE(top);
  CHECK(top->settings.code_lens == true);
  CHECK_FALSE(top->settings.threshold);
  REQUIRE(top->problems.size() == 1);
  CHECK(top->problems[0] == "setting threshold: expected a share from 0 to 1");
  const auto below =
      read_settings(json{{"profd", {{"inlayHints", false}, {"metric", "cpu"}}}, {"codeLens", true}});
  CHECK(below->settings.inlay_hints == false);
  CHECK(below->settings.metric == "cpu");
  CHECK_FALSE(below->settings.code_lens);
  CHECK_FALSE(read_settings(json(3)));
}

TEST_CASE("mappings beyond the limit are counted and said") {
  json many = json::array();
  for (int i = 0; i < 1001; ++i) many.push_back({{"from", "/b"}, {"to", "/w"}});
  const auto read = read_settings(json{{"pathMappings", many}});
  CHECK(read->settings.mappings.size() == 1000);
  REQUIRE(read->problems.size() == 1);
  CHECK(read->problems[0] == "setting pathMappings: 1000 are used, 1001 are given");
}

TEST_CASE("filters are read as text; one that makes no sense is said and the others hold") {
  const auto read = read_settings(
      json{{"filters",
            {"drop module libc.so.6", "hide function /^std::(/", 3, "collapse recursion | drop thread gc"}}});
  REQUIRE(read);
  REQUIRE(read->settings.filters.size() == 3);
  CHECK(read->settings.filters[0].pattern == "libc.so.6");
  CHECK(read->settings.filters[2].by == FilterBy::thread);
  REQUIRE(read->problems.size() == 2);
  CHECK(read->problems[1] == "setting filters: expected a text");
  CHECK(read_settings(json{{"filters", "drop"}})->problems.size() == 1);
}
