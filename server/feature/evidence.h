// Why it is not certain that the numbers of a file are of this file, or of these lines: as people read it.
#pragma once

#include <string>
#include <string_view>

#include "server/engine/source_file.h"

namespace profd {

using EscapeText = std::string (*)(std::string_view);

// What speaks against the file or its lines, in whole sentences; "" nothing. Names from the profile go
// through `escape`, for the place the text is shown in.
std::string evidence_text(const Profile& profile, const SourceFile& file, EscapeText escape);
// Why nothing is shown of paths of the profile that look like the file. `file.files` is empty.
std::string lookalike_text(const Profile& profile, const SourceFile& file, EscapeText escape);

}  // namespace profd
