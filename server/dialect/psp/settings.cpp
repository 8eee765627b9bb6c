#include "server/dialect/psp/settings.h"

#include <nlohmann/json.hpp>

namespace profd {
namespace {

using nlohmann::json;

SettingValue value_of(const json& node, int depth) {
  SettingValue value;
  if (depth == 0) return value;
  if (node.is_boolean()) {
    value.kind = SettingValue::Kind::flag;
    value.flag = node.get<bool>();
  } else if (node.is_number()) {
    value.kind = SettingValue::Kind::number;
    value.number = node.get<double>();
  } else if (node.is_string()) {
    value.kind = SettingValue::Kind::text;
    value.text = node.get_ref<const std::string&>();
  } else if (node.is_array()) {
    value.kind = SettingValue::Kind::list;
    value.n_entries = node.size();
    for (const json& item : node)
      if (value.items.size() < kSettingEntries) value.items.push_back(value_of(item, depth - 1));
  } else if (node.is_object()) {
    value.kind = SettingValue::Kind::table;
    value.n_entries = node.size();
    for (const auto& [key, item] : node.items())
      if (value.members.size() < kSettingEntries) value.members.push_back({key, value_of(item, depth - 1)});
  }
  return value;
}

}  // namespace

std::optional<ReadSettings> read_settings(const json& settings, SettingPlaces place,
                                          std::span<const Setting> table) {
  const json* object = &settings;
  if (object->is_object() && object->contains("profd")) object = &(*object)["profd"];
  if (!object->is_object()) return std::nullopt;
  ReadSettings result;
  const SettingsOrigin origin{place, ""};
  for (const Setting& setting : table) {
    if ((setting.places & place & (kInitially | kAtAnyTime)) == 0) continue;
    if (const auto found = object->find(setting.key); found != object->end() && !found->is_null())
      take_setting(setting, value_of(*found, kSettingDepth), origin, result.settings, result.problems);
  }
  return result;
}

}  // namespace profd
