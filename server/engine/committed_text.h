// What a source file contained at a time in the past, as far as its version control system knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/support/stop.h"

namespace profd {

struct CommittedText {
  std::string commit;  // hexadecimal, whole
  std::string text;
};

// The text that was checked out at `time_s` (seconds since 1970), or was the newest commit then; where the
// file came into version control only later, the first one there. Runs git: a few milliseconds, at most some
// seconds; for workers. Nothing when git or the repository is not there or not trusted by git
// (safe.directory). Only commands that read objects are used, and nothing that a repository's configuration
// could start.
std::optional<CommittedText> committed_text(const std::string& path, std::int64_t time_s,
                                            const StopToken& stop);

}  // namespace profd
