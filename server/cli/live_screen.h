// What `profd live` shows: one picture as text, and as JSON.
#pragma once

#include <string>

#include "server/cli/console.h"
#include "server/engine/live_session.h"

namespace profd {

// Lines, the hottest methods first, then threads, then what was lost. Nothing in it controls the terminal but
// colours.
std::string live_screen(const LiveInfo& info, const LivePicture& picture, const Terminal& terminal);

// One line.
std::string live_json(const LiveInfo& info, const LivePicture& picture);

}  // namespace profd
