// What came of a recording, in a sentence or two.
#pragma once

#include <string>

#include "server/engine/recordings.h"

namespace profd {

// "The run before took 1.31 s, this one 1.15 s (-12 %)"; "" where one of them was interrupted, or was
// built first: how long that took says nothing.
std::string run_before_text(const RecordingMeta& before, const RecordingMeta& now);

// How long it took and what was measured, beside the run `before`, which may be null; or why nothing was.
// With whatever the file holds: a name in it may be anything.
std::string recording_text(const RecordingMeta& meta, const RecordingMeta* before);

// What was run for a profile that lies in a recording, cut to what fits a sentence; "" where it lies
// elsewhere. Reads the recording's meta.json.
std::string recorded_command(const std::string& uri);

}  // namespace profd
