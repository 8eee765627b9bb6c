// What a person sees who rests on a line: every metric of it, the top callers and callees
// through it, and those of its function.
#pragma once

#include <optional>
#include <string>

#include "server/feature/annotate.h"

namespace profd {

struct HoverRequest {
  AnnotateRequest file;
  std::uint32_t line = 0;              // 0-based, in the document
  bool markdown = true;                // false: plain text
  std::optional<std::int64_t> now_ns;  // to say how old the profile is; absent: only when it was recorded
};

Needs needs_of(const HoverRequest& request);
// Empty when the profile has nothing on the line. Names are escaped: no links, no markup, no control
// characters from a file; links lead only to files of the workspace.
Result<std::optional<std::string>> hover_text(Views& views, const HoverRequest& request,
                                              const StopToken& stop);

}  // namespace profd
