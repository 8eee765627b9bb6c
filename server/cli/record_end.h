// The end of a recording: what came of it is shown, and kept in its meta.json.
#pragma once

#include <cstddef>
#include <string>

#include "server/cli/console.h"
#include "server/cli/record_choice.h"
#include "server/engine/recording_meta.h"

namespace profd {

struct EndedRecording {
  RecordPlan plan;
  std::string place, folder;  // of the recordings, and of this one
  RecordingMeta meta;         // what is known before the profile is looked at
};

// A file of the folder, whole or not at all. For who writes meta.json and what a driver needs.
Result<void> put_file(const std::string& path, std::string_view text);

// As short as it can be typed from here.
std::string path_from_here(const std::string& path);

// Shows the profile, or says why there is none, on standard error: standard output is the program's. Gives
// the exit code: the program's, or 1 where that is 0 and nothing was measured.
int end_recording(EndedRecording recording, const Console& console);

}  // namespace profd
