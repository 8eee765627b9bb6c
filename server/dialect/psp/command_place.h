// What a command of an editor without views is about: a function that it names, or the one at a place in the
// sources.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "server/dialect/psp/session_context.h"

namespace profd {

struct SourcePlace {
  std::string path;        // absolute
  std::uint32_t line = 0;  // from 0
};

// "PATH:LINE", the line from 1. The path is absolute, or relative to a root of the workspace, or how the path
// of exactly one open document ends. Nothing: it is no such text, or no such file is known.
std::optional<SourcePlace> source_place(const Workspace& workspace, std::string_view text);

// Goes on with the function of a command: `then(function, reply)` on the strand. It is the member `function`
// of an object that is the first argument, or the first argument itself; either may be a place, as may the
// object be, as LSP's TextDocumentPositionParams: then it is the function that costs most there. "" where
// none is given. A place where nothing was measured is told to the user, and answered with that sentence.
using CommandReply = protocol::Reply<psp::ExecuteCommandRequest>;
void with_command_function(SessionContext& session, const OpenProfilePtr& open,
                           const psp::ExecuteCommandParams& params, CommandReply reply,
                           std::function<void(const std::string& function, CommandReply reply)> then);

}  // namespace profd
