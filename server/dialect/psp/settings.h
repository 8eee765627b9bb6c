// What a client sets: initializationOptions, and the settings of workspace/didChangeConfiguration.
// docs/settings.md is the reference.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "server/engine/settings.h"

namespace profd {

struct ReadSettings {
  Settings settings;
  std::vector<std::string> problems;  // settings that are wrong; the rest holds
};
// `place`: kInitially or kAtAnyTime, with kFromPage for who came over HTTP. Settings stand at the top or
// under "profd". Nothing when it is no object. Other programs' keys are passed over, and settings that do not
// belong there.
std::optional<ReadSettings> read_settings(const nlohmann::json& settings, SettingPlaces place,
                                          std::span<const Setting> table = all_settings());

}  // namespace profd
