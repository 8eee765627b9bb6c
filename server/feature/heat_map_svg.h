// A heat map as one self-contained SVG, with tooltips and on a light or dark ground as the reader's system
// has it. Every text from the profile is escaped.
#pragma once

#include <string>

#include "server/feature/heat_map_answer.h"

namespace profd {

std::string heat_map_svg(const HeatMapAnswer& answer, const std::string& title);

}  // namespace profd
