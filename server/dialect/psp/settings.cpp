#include "server/dialect/psp/settings.h"

#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/engine/uri.h"

namespace profd {

using nlohmann::json;

ReadSettings read_settings(const json& value) {
  const json* object = &value;
  if (object->is_object() && object->contains("profd")) object = &(*object)["profd"];
  ReadSettings out;
  if (!object->is_object()) return out;
  const auto wrong = [&](const char* name, const char* expected) {
    out.problems.push_back(fmt::format("setting {}: expected {}", name, expected));
  };
  const auto flag = [&](const char* name, std::optional<bool>& setting) {
    const auto found = object->find(name);
    if (found == object->end() || found->is_null()) return;
    if (found->is_boolean())
      setting = found->get<bool>();
    else
      wrong(name, "true or false");
  };
  flag("codeLens", out.settings.code_lens);
  flag("inlayHints", out.settings.inlay_hints);
  if (const auto found = object->find("threshold"); found != object->end() && !found->is_null()) {
    if (found->is_number() && found->get<double>() >= 0 && found->get<double>() <= 1)
      out.settings.threshold = found->get<double>();
    else
      wrong("threshold", "a share from 0 to 1");
  }
  if (const auto found = object->find("metric"); found != object->end() && found->is_string())
    out.settings.metric = found->get<std::string>();
  if (const auto found = object->find("pathMappings"); found != object->end() && found->is_array())
    for (const json& item : *found) {
      if (out.settings.mappings.size() >= 1000) break;
      const bool good = item.is_object() && item.contains("from") && item["from"].is_string() &&
                        item.contains("to") && item["to"].is_string();
      auto to = good ? path_of_uri(item["to"].get_ref<const std::string&>())
                     : Result<std::string>(fail(ErrorCode::invalid, ""));
      if (to)
        out.settings.mappings.push_back({item["from"].get<std::string>(), std::move(*to)});
      else
        wrong("pathMappings", "a list of {from, to} with absolute `to`");
    }
  return out;
}

}  // namespace profd
