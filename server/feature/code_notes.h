// What people are told about the code of a profile beside its rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/profile.h"

namespace profd {

// How far numbers of this metric may be off the instructions that they are shown at; "" they are exact, or it
// is not sampled.
std::string skid_note(const Profile& profile, MetricId metric);

// Why none of these frames (by frame, 1; empty: all) is in a piece of code, and what to do.
std::string why_no_piece(const Profile& profile, const std::vector<std::uint8_t>& frames);

}  // namespace profd
