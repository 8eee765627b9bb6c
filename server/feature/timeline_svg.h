// A timeline as one self-contained SVG: the load of its tracks, and below those that have one their flame
// chart, with tooltips and on a light or dark ground as the reader's system has it. Every text from the
// profile is escaped.
#pragma once

#include <string>

#include "server/feature/timeline_answer.h"

namespace profd {

inline constexpr double kTimelineSvgWidth = 1600;

// `answer` was made for that many pixels.
std::string timeline_svg(const TimelineAnswer& answer, const std::string& title);

}  // namespace profd
