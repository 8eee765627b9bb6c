// What is known of the code of a profile, for `profd check`: its binaries, as of profile/modules, and its
// scripts with their source maps.
#pragma once

#include <string>
#include <vector>

#include "server/cli/console.h"
#include "server/cli/json_writer.h"
#include "server/cli/profile_options.h"
#include "server/engine/script_maps.h"
#include "server/feature/modules_answer.h"

namespace profd {

struct CodeStates {
  ModulesAnswer modules;              // none: no code has an address, or names are not looked for
  std::vector<ScriptAnswer> scripts;  // costliest first
};

// Looks where `file`, which the profile is of, says, as far as the options allow it.
Result<CodeStates> code_states(const ProfilePtr& profile, const std::string& file,
                               const ProfileOptions& options, const Console& console, const StopToken& stop);

// A line a binary or script, the costliest ones, and below it why no more is known and what to do; "" none.
std::string code_states_text(const Console& console, const CodeStates& states);
// The members `modules` and `scripts` of an object, where there are any.
void write_code_states(const CodeStates& states, JsonWriter& json);

}  // namespace profd
