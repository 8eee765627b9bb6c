// What a command of an editor without views is about: a function that it names, or the one at a place in the
// sources.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "server/dialect/psp/commands.h"

namespace profd {

struct SourcePlace {
  std::string path;        // absolute
  std::uint32_t line = 0;  // from 0
};

// "PATH:LINE", the line from 1. The path is absolute, or relative to a root of the workspace, or how the path
// of exactly one open document ends. Nothing: it is no such text, or no such file is known.
std::optional<SourcePlace> source_place(const Workspace& workspace, std::string_view text);

// Goes on with a command whose place, if it has one, became a function: `then(params, reply)` on the strand.
// A place is the first argument, or the member `function` of an object that is the first argument, or that
// object itself, as LSP's TextDocumentPositionParams; it becomes the function that costs most there. One
// where nothing was measured is told to the user, and answered with that sentence. Only commands about a
// function have places.
void with_function_at_place(SessionContext& session, const CommandParams& params, CommandReply reply,
                            std::function<void(const CommandParams& params, CommandReply reply)> then);

}  // namespace profd
