// What follows from protocol/live.json, the stream between agents and the daemon.
#pragma once

#include <vector>

#include "protocol/gen/model.h"
#include "protocol/gen/text.h"

namespace profd::gen {

// `model`: the whole of live.json. Throws where something of it is missing.
std::vector<OutputFile> emit_live(const Json& model);

}  // namespace profd::gen
