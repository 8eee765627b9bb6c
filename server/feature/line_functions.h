// The functions whose code is on a line of a source file.
#pragma once

#include <cstdint>
#include <span>
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

// A line as the profile says, from 1.
struct SideLine {
  std::uint32_t line = 0;
  const std::vector<std::uint8_t>* of = nullptr;  // by frame: those whose lines are meant; null: all
};
// `files`: the profile's spellings of the file; `lines`: what is one line now.
Result<LineFunctions> functions_on_line(const Selection& selection, const std::vector<StringId>& files,
                                        std::span<const SideLine> lines, const StopToken& stop);

}  // namespace profd
