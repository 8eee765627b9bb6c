#include "server/dialect/psp/settings.h"

#include <optional>

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"

using namespace profd;
using nlohmann::json;

namespace {

std::optional<ReadSettings> read(const json& settings) {
  return read_settings(settings, kInitially);
}

}  // namespace

TEST_CASE("settings stand at the top or under profd; what is wrong is said and the rest holds") {
  const auto top = read(json{{"codeLens", true}, {"threshold", 2}, {"metric", nullptr}, {"other", 1}});
  REQUIRE(top);
  CHECK(top->settings.code_lens == true);
  CHECK_FALSE(top->settings.threshold);
  REQUIRE(top->problems.size() == 1);
  CHECK(top->problems[0] == "setting threshold: expected a share from 0 to 1");
  const auto below = read(json{{"profd", {{"inlayHints", false}, {"metric", "cpu"}}}, {"codeLens", true}});
  CHECK(below->settings.inlay_hints == false);
  CHECK(below->settings.metric == "cpu");
  CHECK_FALSE(below->settings.code_lens);
  CHECK_FALSE(read(json(3)));
}

TEST_CASE("mappings beyond the limit are counted and said") {
  json many = json::array();
  for (int i = 0; i < 1001; ++i) many.push_back({{"from", "/b"}, {"to", "/w"}});
  const auto all = read(json{{"pathMappings", many}});
  CHECK(all->settings.mappings.size() == 1000);
  REQUIRE(all->problems.size() == 1);
  CHECK(all->problems[0] == "setting pathMappings: 1000 are used, 1001 are given");
}

TEST_CASE("filters are read as text; one that makes no sense is said and the others hold") {
  const auto given = read(
      json{{"filters",
            {"drop module libc.so.6", "hide function /^std::(/", 3, "collapse recursion | drop thread gc"}}});
  REQUIRE(given);
  REQUIRE(given->settings.filters.size() == 3);
  CHECK(given->settings.filters[0].pattern == "libc.so.6");
  CHECK(given->settings.filters[2].by == FilterBy::thread);
  REQUIRE(given->problems.size() == 2);
  CHECK(given->problems[1] == "setting filters: expected a text");
  CHECK(read(json{{"filters", "drop"}})->problems.size() == 1);
}

TEST_CASE("a setting is taken where it belongs, and passed over elsewhere") {
  const json all = {{"projectFile", false}, {"profiles", {"/etc/*"}}, {"codeLens", true}};
  const auto first = read_settings(all, kInitially);
  CHECK(first->settings.project_file == false);
  CHECK(first->settings.profiles.empty());
  const auto later = read_settings(all, kAtAnyTime);
  CHECK_FALSE(later->settings.project_file);
  CHECK(later->settings.code_lens == true);
}

TEST_CASE("who came over HTTP names no folder and no mapping, at no time and in no setting") {
  for (const Setting& setting : all_settings()) {
    INFO(setting.key << setting.project_key);
    if (setting.kind == SettingKind::mappings || setting.kind == SettingKind::globs)
      CHECK((setting.places & kFromPage) == 0);
    // Nor do they have servers asked for all that is opened, and no more does a project file.
    if (setting.kind == SettingKind::consent || setting.kind == SettingKind::servers)
      CHECK((setting.places & (kFromPage | kInProjectFile)) == 0);
  }
  const json wanted = {{"pathMappings", json::array({{{"from", "/build"}, {"to", "/etc"}}})},
                       {"profiles", {"/etc/*"}},
                       {"threshold", 0.25}};
  for (const SettingPlaces place : {kInitially, kAtAnyTime}) {
    const auto page = read_settings(wanted, place | kFromPage);
    CHECK(page->settings.mappings.empty());
    CHECK(page->settings.profiles.empty());
    CHECK(page->settings.threshold == 0.25);
    std::vector<std::string> problems = {
        "setting pathMappings: not taken from a page, which chooses no folders"};
    if (place == kInitially)
      problems.emplace_back("setting profiles: not taken from a page, which chooses no folders");
    CHECK(page->problems == problems);
    CHECK(read_settings(wanted, place)->settings.mappings.size() == 1);
  }
}
