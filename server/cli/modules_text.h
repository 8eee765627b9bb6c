// The binaries of a profile in words and as JSON, for the commands that tell of them.
#pragma once

#include <string>

#include "server/cli/console.h"
#include "server/cli/json_writer.h"
#include "server/feature/modules_answer.h"

namespace profd {

// A line a module, and below it why no more is known and what to do.
std::string modules_table(const Console& console, const ModulesAnswer& answer);
// Those of a hundredth of the total and more that have no names, or no lines for want of a file.
void add_missing_modules(const Console& console, const ModulesAnswer& answer, std::string& out);
// An array of objects as of profile/modules.
void write_modules(const ModulesAnswer& answer, JsonWriter& json);

}  // namespace profd
