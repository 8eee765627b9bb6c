// Commands of workspace/executeCommand: what they have in common, and who has which.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "server/dialect/psp/session_context.h"

namespace profd {

using CommandReply = protocol::Reply<psp::ExecuteCommandRequest>;
using CommandParams = psp::ExecuteCommandParams;

struct ServerCommand {
  std::string_view name;
  void (*run)(SessionContext& session, const CommandParams& params, CommandReply reply);
};

// Arguments are either one object or plain texts, in the order of positions; "" where there is none.
std::string command_argument(const CommandParams& params, const char* name, std::size_t position);
// The profile that an argument names, or null, after having answered why.
OpenProfilePtr command_profile(SessionContext& session, const std::string& named, CommandReply& reply);

// report_commands.cpp: those that show a page.
std::span<const ServerCommand> report_commands();
void run_callers(SessionContext& session, const CommandParams& params, CommandReply reply);

}  // namespace profd
