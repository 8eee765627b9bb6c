// meta.json of a recording: what was run, how, and what came of it. No environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"

namespace profd {

struct RecordingMeta {
  std::vector<std::string> argv;  // as typed
  std::string cwd;
  std::string tool, tool_version;  // the version is "" where the tool does not say
  std::string profile;             // file name in the folder; "" none was written
  std::string failure;             // why nothing was measured, in a sentence; "" something was
  std::string attached;  // to what it was attached, as --attach takes it; "" the command was started
  int exit_code = 0;
  bool interrupted = false;
  std::string started;  // "2026-11-20 19:28:14 UTC"
  double duration_s = 0;
  std::string commit;  // whole; "" where git knows none
  bool dirty = false;  // tracked files differed from it
  std::string system, machine, host;
  std::uint64_t processors = 0;
  std::optional<std::uint64_t> samples, lost;  // nothing where the profile cannot be read
};

// For text that anybody may have written: `malformed` when a field that is needed is missing or of another
// kind.
Result<RecordingMeta> read_meta(std::string_view text);

}  // namespace profd
