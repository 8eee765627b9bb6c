// What can be done about a line of a source file that was measured, in editors without views of their own.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/feature/functions_at.h"

namespace profd {

// A profile to compare with.
struct ComparedWith {
  std::string handle, name;
};

struct ActionsRequest {
  AnnotateRequest file;
  std::uint32_t line = 0;            // of the document, from 0
  std::vector<ComparedWith> others;  // newest first; some of them are offered
  bool has_previous = false;         // the recording before is kept
  bool records_again = false;        // by being asked
};

struct LineAction {
  std::string title;  // names in it as they are shown short
  std::string_view kind, command;
  std::vector<std::pair<std::string_view, std::string>> arguments;
};

// Nothing where the profile has nothing on the file.
Result<std::vector<LineAction>> code_actions(Views& views, const ActionsRequest& request,
                                             const StopToken& stop);

}  // namespace profd
