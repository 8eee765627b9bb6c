// The functions whose code is on a line of a source file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/engine/views.h"

namespace profd {

struct LineFunction {
  std::string name;
  Key key = kNone;
  bool inlined = false;
};

struct LineFunctions {
  std::vector<LineFunction> functions;  // the one that costs most on the line first
  std::vector<std::size_t> frames;      // of all of them
};

// `files`: the profile's spellings of the file; `source_line`: as the profile says, from 1.
Result<LineFunctions> functions_on_line(const Selection& selection, const std::vector<StringId>& files,
                                        std::uint32_t source_line, const StopToken& stop);

}  // namespace profd
