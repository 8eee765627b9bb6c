// What is made of the table of settings: the tables of docs/settings.md and the schemas for editors, which
// this test writes (PROFD_BLESS=1); and that nothing but the table is needed for a new one.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/dialect/psp/settings.h"
#include "server/engine/project_file.h"
#include "tests/support/catch.h"

using namespace profd;
using nlohmann::ordered_json;

namespace {

using Table = std::span<const Setting>;
const std::filesystem::path kRoot = PROFD_SOURCE_DIR;

std::string grouped(std::size_t n) {
  return n < 1000 ? fmt::format("{}", n) : fmt::format("{},{:03}", n / 1000, n % 1000);
}

std::string value_text(const Setting& setting, bool in_project) {
  const std::string most = grouped(most_entries(setting.kind));
  switch (setting.kind) {
    case SettingKind::flag:
      return "true or false";
    case SettingKind::share:
      return "a share, 0 to 1";
    case SettingKind::text:
      return "a text";
    case SettingKind::names:
      return fmt::format("a list of at most {} texts", most);
    case SettingKind::globs:
      return "a list of globs: `*` within a name, `**` across folders, `?` one character";
    case SettingKind::filters:
      return fmt::format("a list of at most {} filters in their text form, as of `--filter`", most);
    case SettingKind::filters_by_profile:
      return fmt::format(
          "an object: the URI of a profile, and its list of at most {} filters; of at most {} profiles",
          most_entries(SettingKind::filters), most);
    case SettingKind::mappings:
      return fmt::format("a list of {}, at most {}",
                         in_project ? "tables with `from` and `to`" : "`{\"from\", \"to\"}`", most);
    case SettingKind::formulas:
      return fmt::format("{} of at most {} formulas by name", in_project ? "a table" : "an object", most);
    case SettingKind::rules:
      return fmt::format("a list of at most {} rules", most);
    case SettingKind::outcome:
      return "`\"pass\"` or `\"fail\"`";
    case SettingKind::consent:
      return "`\"off\"`, `\"ask\"` or `\"on\"`";
    case SettingKind::servers:
      return fmt::format("a list of at most {} `http:` or `https:` addresses", most);
    case SettingKind::sets:
      return fmt::format("{} of at most {} sets by name", in_project ? "a table" : "an object", most);
    case SettingKind::tips:
      return fmt::format("a list of at most {} rules", most);
  }
  return "";
}

std::string_view doc(const Setting& setting, bool in_project) {
  return in_project && !setting.project_doc.empty() ? setting.project_doc : setting.doc;
}

std::string client_table(Table table) {
  std::string text =
      "| setting | value | default | VS Code | a page | what it does |\n| --- | --- | --- | --- | --- | --- "
      "|\n";
  for (const Setting& setting : table)
    if ((setting.places & (kInitially | kAtAnyTime)) != 0)
      text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", setting.key, value_text(setting, false),
                          setting.fallback, (setting.places & kInConfiguration) != 0 ? "yes" : "",
                          (setting.places & kFromPage) != 0 ? "yes" : "no", doc(setting, false));
  return text;
}

std::string project_table(Table table) {
  std::string text = "| key | value | default | what it does |\n| --- | --- | --- | --- |\n";
  for (const Setting& setting : table)
    if ((setting.places & kInProjectFile) != 0)
      text += fmt::format("| `{}` | {} | {} | {} |\n", setting.project_key, value_text(setting, true),
                          setting.fallback, doc(setting, true));
  return text;
}

// The page with the table below a heading replaced.
std::string with_table(const std::string& page, const std::string& heading, const std::string& table) {
  const auto section = page.find("\n## " + heading + "\n");
  REQUIRE(section != page.npos);
  const auto from = page.find("\n| ", section) + 1;
  REQUIRE(from != 0);
  auto to = from;
  while (page.compare(to, 1, "|") == 0) to = page.find('\n', to) + 1;
  return page.substr(0, from) + table + page.substr(to);
}

ordered_json list_of(const ordered_json& items, std::size_t most) {
  ordered_json list = {{"type", "array"}, {"items", items}};
  if (most != SIZE_MAX) list["maxItems"] = most;
  return list;
}

ordered_json type_of(const Setting& setting) {
  const std::size_t most = most_entries(setting.kind);
  const ordered_json text = {{"type", "string"}};
  switch (setting.kind) {
    case SettingKind::flag:
      return {{"type", "boolean"}};
    case SettingKind::share:
      return {{"type", "number"}, {"minimum", 0}, {"maximum", 1}};
    case SettingKind::text:
      return text;
    case SettingKind::names:
    case SettingKind::globs:
    case SettingKind::filters:
      return list_of(text, most);
    case SettingKind::filters_by_profile:
      return {{"type", "object"},
              {"maxProperties", most},
              {"additionalProperties", list_of(text, most_entries(SettingKind::filters))}};
    case SettingKind::mappings:
      return list_of({{"type", "object"},
                      {"required", {"from", "to"}},
                      {"additionalProperties", false},
                      {"properties", {{"from", text}, {"to", text}}}},
                     most);
    case SettingKind::formulas: {
      const ordered_json table = {{"type", "object"},
                                  {"required", {"formula"}},
                                  {"additionalProperties", false},
                                  {"properties", {{"formula", text}, {"unit", text}}}};
      return {{"type", "object"},
              {"maxProperties", most},
              {"additionalProperties", {{"oneOf", ordered_json::array({text, table})}}}};
    }
    case SettingKind::rules:
      return list_of(text, most);
    case SettingKind::outcome:
      return {{"enum", {"pass", "fail"}}};
    case SettingKind::consent:
      return {{"enum", {"off", "ask", "on"}}};
    case SettingKind::servers:
      return list_of(text, most);
    case SettingKind::sets: {
      const ordered_json texts = {{"oneOf", ordered_json::array({text, list_of(text, 64)})}};
      const ordered_json flag = {{"type", "boolean"}};
      const ordered_json set = {{"type", "object"},
                                {"additionalProperties", false},
                                {"properties",
                                 {{"title", text},
                                  {"runtime", {{"enum", {"any", "go", "jvm", "js", "python", "rust", "c"}}}},
                                  {"functions", texts},
                                  {"modules", texts},
                                  {"files", texts},
                                  {"frame_kinds", texts},
                                  {"includes", texts},
                                  {"hue", {{"type", "number"}, {"minimum", 0}, {"maximum", 359}}},
                                  {"kind", flag},
                                  {"background", flag},
                                  {"helper", flag},
                                  {"idle", flag},
                                  {"called", flag},
                                  {"not_inlined", flag}}}};
      return {{"type", "object"}, {"maxProperties", most}, {"additionalProperties", set}};
    }
    case SettingKind::tips:
      return list_of({{"type", "object"},
                      {"required", {"id"}},
                      {"additionalProperties", false},
                      {"properties",
                       {{"id", text},
                        {"title", text},
                        {"set", text},
                        {"evidence",
                         {{"enum",
                           {"work", "self", "few_samples", "nameless", "cut_stacks", "lost_samples", "cpi",
                            "switches", "imbalance", "one_thread"}}}},
                        {"metric", {{"enum", {"time", "wall", "bytes", "any"}}}},
                        {"at_least", {{"type", "number"}, {"minimum", 0}}},
                        {"subject", text},
                        {"advice", text},
                        {"link", text}}}},
                     most);
  }
  return {};
}

// `places`: settings of one of them are in it.
ordered_json schema(Table table, SettingPlaces places, const std::string& title) {
  const bool in_project = places == kInProjectFile;
  ordered_json properties = ordered_json::object();
  for (const Setting& setting : table) {
    if ((setting.places & places) == 0) continue;
    ordered_json property = type_of(setting);
    property["description"] = doc(setting, in_project);
    // `false`: words in backticks are what a file would say.
    if (setting.fallback.front() == '`')
      property["default"] = ordered_json::parse(setting.fallback.substr(1, setting.fallback.size() - 2));
    if (!in_project) {
      property["x-initialize-only"] = (setting.places & kAtAnyTime) == 0;
      property["x-configuration"] = (setting.places & kInConfiguration) != 0;
      property["x-page"] = (setting.places & kFromPage) != 0;
    }
    const std::string key(in_project ? setting.project_key : setting.key);
    const auto dot = key.find('.');
    if (dot == key.npos) {
      properties[key] = std::move(property);
    } else {
      ordered_json& table_of_it = properties[key.substr(0, dot)];
      table_of_it["type"] = "object";
      table_of_it["properties"][key.substr(dot + 1)] = std::move(property);
    }
  }
  return {{"$schema", "http://json-schema.org/draft-07/schema#"},
          {"title", title},
          {"type", "object"},
          {"additionalProperties", !in_project},
          {"properties", std::move(properties)}};
}

ordered_json client_schema(Table table) {
  return schema(table, kInitially | kAtAnyTime, "What a client of profd sets (docs/settings.md)");
}
ordered_json project_schema(Table table) {
  return schema(table, kInProjectFile, ".profd.toml (docs/settings.md)");
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void check_written(const std::string& name, const std::string& text) {
  INFO(name << " is not what the table of settings makes of it; PROFD_BLESS=1 writes it");
  if (std::getenv("PROFD_BLESS")) std::ofstream(kRoot / name, std::ios::binary) << text;
  CHECK(text_of(kRoot / name) == text);
}

}  // namespace

TEST_CASE("the page on settings has the tables that are made of the table of settings") {
  const std::string page = with_table(
      with_table(text_of(kRoot / "docs/settings.md"), "What a client sets", client_table(all_settings())),
      ".profd.toml", project_table(all_settings()));
  check_written("docs/settings.md", page);
}

TEST_CASE("the schemas for editors are made of the table of settings") {
  check_written("clients/shared/settings/client.schema.json", client_schema(all_settings()).dump(2) + "\n");
  check_written("clients/shared/settings/profd.toml.schema.json",
                project_schema(all_settings()).dump(2) + "\n");
}

TEST_CASE("every setting has a place, a name there, and words for it") {
  for (const Setting& setting : all_settings()) {
    INFO(setting.key << " " << setting.project_key);
    CHECK((setting.places & (kInProjectFile | kInitially | kAtAnyTime)) != 0);
    CHECK(((setting.places & kInProjectFile) != 0) == !setting.project_key.empty());
    CHECK(((setting.places & (kInitially | kAtAnyTime)) != 0) == !setting.key.empty());
    CHECK_FALSE(setting.doc.empty());
    CHECK_FALSE(setting.fallback.empty());
  }
}

TEST_CASE(
    "a setting that is added to the table, and nowhere else, is read, described and proposed everywhere") {
  std::vector<Setting> table(all_settings().begin(), all_settings().end());
  table.push_back({"probeShare", "probe_share", SettingKind::share, &Settings::threshold,
                   kInProjectFile | kInitially | kAtAnyTime | kFromPage, "`0.5`", "A probe.", ""});
  const auto project = parse_project_file("probe_share = 0.125\n", "/w/.profd.toml", table);
  REQUIRE(project);
  CHECK(project->problems.empty());
  CHECK(project->settings.threshold == 0.125);
  CHECK(parse_project_file("probe_share = 2\n", "/w/.profd.toml", table)->problems ==
        std::vector<std::string>{"/w/.profd.toml:1: probe_share must be a share from 0 to 1"});
  CHECK(parse_project_file("probe_share = 0.125\n", "/w/.profd.toml")->problems.size() == 1);
  for (const SettingPlaces place : {kInitially, kAtAnyTime}) {
    CHECK(read_settings({{"probeShare", 0.25}}, place, table)->settings.threshold == 0.25);
    CHECK(read_settings({{"probeShare", 2}}, place, table)->problems ==
          std::vector<std::string>{"setting probeShare: expected a share from 0 to 1"});
  }
  CHECK(client_table(table).find("| `probeShare` | a share, 0 to 1 | `0.5` |  | yes | A probe. |") !=
        std::string::npos);
  CHECK(project_table(table).find("| `probe_share` | a share, 0 to 1 | `0.5` | A probe. |") !=
        std::string::npos);
  CHECK(client_schema(table)["properties"]["probeShare"]["maximum"] == 1);
  CHECK(project_schema(table)["properties"]["probe_share"]["default"] == 0.5);
}
