// Numbers that are estimates, in words: of sources that hold functions and calls and no stacks.
#pragma once

#include <string>

#include "core/view/selection.h"
#include "core/view/table.h"

namespace profd {

// Stands before a number that is an estimate.
inline constexpr const char* kEstimateMark = "\u2248";

// "the file has calls, not stacks: ..."; "" when the view's paths are measured.
std::string estimate_text(const Selection& selection);

// Why more than the whole can be said of a line or function: sources without stacks count recursion at every
// level, and cProfile, for one, loses self time of recursive builtins. "" where `total` is not more than
// `whole`.
std::string excess_text(const Value& total, const Value& whole);

inline std::string marked(const std::string& text, bool estimated) {
  return estimated ? kEstimateMark + text : text;
}

}  // namespace profd
