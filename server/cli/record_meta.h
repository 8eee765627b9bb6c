// What a recording says of itself: the text of its meta.json, and what is found out for that.
#pragma once

#include <string>

#include "server/engine/recording_meta.h"

namespace profd {

std::string meta_text(const RecordingMeta& meta);

// The machine, and the commit of `cwd`; runs git.
void add_surroundings(RecordingMeta& meta);

}  // namespace profd
