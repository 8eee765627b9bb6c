// Settings of a client, as `initializationOptions` and workspace/didChangeConfiguration carry them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "server/engine/workspace.h"

namespace profd {

struct ReadSettings {
  Settings settings;
  std::vector<std::string> problems;  // what is not as it should be, and is left out
};
// `json`: the settings, or an object that has them at "profd". Anything else has none.
ReadSettings read_settings(const nlohmann::json& json);

}  // namespace profd
