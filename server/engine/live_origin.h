// Profiles of live sessions, as origins:
//
//   live://NAME                       all of it since its begin
//   live://NAME?from=NS&to=NS         a part of its time, either end at will
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/engine/live_sessions.h"
#include "server/engine/origins.h"
#include "server/runtime/post.h"

namespace profd {

// Adds the scheme to `origins`, which then has the daemon's sessions. `changed` is called on the strand with
// the key of an origin that may give something else.
// `symbols`: how code gets names.
void add_live_origins(Origins& origins, Post post, std::function<void(const std::string& key)> changed,
                      const SymbolOptions& symbols);

// The sessions of a daemon. Null where the scheme was not added.
std::shared_ptr<LiveSessions> live_sessions(const Origins& origins);

}  // namespace profd
