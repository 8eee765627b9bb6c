// How each recorder is called for a command.
#pragma once

#include <string>

#include "server/cli/record_choice.h"

namespace profd {

// Fills in what is run for `plan.tool`, whose `program` is known, and what it writes into `folder`. `invalid`
// when it does not take this command.
Result<void> fill_plan(RecordPlan& plan, const RecordFacts& facts, const std::string& folder);

}  // namespace profd
