#include "server/dialect/psp/settings.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/view/spec.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxMappings = 1000;

void wrong(ReadSettings& out, std::string_view name, std::string_view expected) {
  out.problems.push_back(fmt::format("setting {}: expected {}", name, expected));
}

void read_flag(const json& value, std::string_view name, std::optional<bool>& flag, ReadSettings& out) {
  if (value.is_boolean())
    flag = value.get<bool>();
  else
    wrong(out, name, "true or false");
}

void read_threshold(const json& value, ReadSettings& out) {
  if (value.is_number() && value.get<double>() >= 0 && value.get<double>() <= 1)
    out.settings.threshold = value.get<double>();
  else
    wrong(out, "threshold", "a share from 0 to 1");
}

void read_metric(const json& value, ReadSettings& out) {
  if (value.is_string())
    out.settings.metric = value.get<std::string>();
  else
    wrong(out, "metric", "a name");
}

void read_mappings(const json& value, ReadSettings& out) {
  constexpr std::string_view kExpected = "a list of {from, to} with absolute `to`";
  if (!value.is_array()) return wrong(out, "pathMappings", kExpected);
  for (const json& item : value) {
    const bool good = item.is_object() && item.contains("from") && item["from"].is_string() &&
                      item.contains("to") && item["to"].is_string();
    auto to = good ? path_of_uri(item["to"].get_ref<const std::string&>())
                   : Result<std::string>(fail(ErrorCode::invalid, ""));
    if (!to) {
      wrong(out, "pathMappings", kExpected);
    } else if (out.settings.mappings.size() < kMaxMappings) {
      out.settings.mappings.push_back({item["from"].get<std::string>(), std::move(*to)});
    } else {
      out.problems.push_back(
          fmt::format("setting pathMappings: {} are used, {} are given", kMaxMappings, value.size()));
      return;
    }
  }
}

constexpr std::size_t kMaxFilters = 100, kMaxFilteredProfiles = 100;

std::vector<Filter> filters_of(const json& value, std::string_view name, ReadSettings& out) {
  std::vector<Filter> result;
  if (!value.is_array() || value.size() > kMaxFilters) {
    wrong(out, name, fmt::format("a list of at most {} filters as text", kMaxFilters));
    return result;
  }
  for (const json& item : value) {
    auto filters = item.is_string()
                       ? parse_filters(item.get_ref<const std::string&>())
                       : Result<std::vector<Filter>>(fail(ErrorCode::invalid, "expected a text"));
    if (!filters)
      out.problems.push_back(fmt::format("setting {}: {}", name, describe(filters.error())));
    else
      std::move(filters->begin(), filters->end(), std::back_inserter(result));
  }
  return result;
}

void read_filters(const json& value, ReadSettings& out) {
  out.settings.filters = filters_of(value, "filters", out);
}

void read_profile_filters(const json& value, ReadSettings& out) {
  constexpr std::string_view kName = "profileFilters";
  if (!value.is_object() || value.size() > kMaxFilteredProfiles)
    return wrong(out, kName,
                 fmt::format("an object of lists of filters, by the URIs of at most {} profiles",
                             kMaxFilteredProfiles));
  for (const auto& [uri, list] : value.items()) {
    // As profiles are called: one file is one key, however it is spelled.
    const auto path = path_of_uri(uri);
    out.settings.profile_filters[path ? uri_of_path(*path) : uri] = filters_of(list, kName, out);
  }
}

void read_mine(const json& value, ReadSettings& out) {
  constexpr std::size_t kMaxNames = 100, kMaxLength = 1000;
  const auto is_name = [](const json& item) {
    return item.is_string() && item.get_ref<const std::string&>().size() <= kMaxLength;
  };
  if (!value.is_array() || value.size() > kMaxNames || !std::all_of(value.begin(), value.end(), is_name))
    return wrong(out, "mine", fmt::format("a list of at most {} folders, packages and modules", kMaxNames));
  for (const json& item : value) out.settings.mine.push_back(item.get<std::string>());
}

struct Setting {
  std::string_view name;
  void (*read)(const json& value, ReadSettings& out);
};

constexpr std::array<Setting, 10> kSettings = {
    {{"codeLens", [](const json& value,
                     ReadSettings& out) { read_flag(value, "codeLens", out.settings.code_lens, out); }},
     {"inlayHints", [](const json& value,
                       ReadSettings& out) { read_flag(value, "inlayHints", out.settings.inlay_hints, out); }},
     {"threshold", &read_threshold},
     {"metric", &read_metric},
     {"pathMappings", &read_mappings},
     {"filters", &read_filters},
     {"profileFilters", &read_profile_filters},
     {"mine", &read_mine},
     {"projectFile", [](const json&, ReadSettings&) {}},  // of `initialize` alone
     {"token", [](const json&, ReadSettings&) {}}}};      // `initialize` itself looks at it

}  // namespace

std::optional<ReadSettings> read_settings(const json& settings) {
  const json* object = &settings;
  if (object->is_object() && object->contains("profd")) object = &(*object)["profd"];
  if (!object->is_object()) return std::nullopt;
  ReadSettings result;
  for (const Setting& setting : kSettings)
    if (const auto found = object->find(setting.name); found != object->end() && !found->is_null())
      setting.read(*found, result);
  return result;
}

std::vector<std::string_view> setting_names() {
  std::vector<std::string_view> names;
  for (const Setting& setting : kSettings) names.push_back(setting.name);
  return names;
}

}  // namespace profd
