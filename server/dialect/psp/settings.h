// What a client sets: initializationOptions, and the settings of workspace/didChangeConfiguration.
// docs/settings.md is the reference.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "server/engine/workspace.h"

namespace profd {

struct ReadSettings {
  Settings settings;
  std::vector<std::string> problems;  // settings that are wrong; the rest holds
};
// Settings stand at the top or under "profd". Nothing when it is no object. Other programs' keys are passed
// over.
std::optional<ReadSettings> read_settings(const nlohmann::json& settings);

// The names of all of them; a test compares them with docs/settings.md.
std::vector<std::string_view> setting_names();

}  // namespace profd
