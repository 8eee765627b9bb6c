// Jumps within code as arrows beside its rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/code/rows.h"

namespace profd {

inline constexpr std::uint32_t kNoLane = kNone;

// By `from`, ascending.
struct Jumps {
  std::vector<std::uint32_t> from, to;  // rows
  std::vector<std::uint32_t> lane;      // 0 is next to the rows; kNoLane: all lanes there are taken
  std::uint32_t n_lanes = 0;
  std::size_t size() const { return from.size(); }
};

// Every jump whose target is a row. Two arrows that have a row in common, their ends included, are in
// different lanes, and of two with one around the other the inner one is nearer to the rows. At most
// `max_lanes`: what finds none has no lane, shorter arrows first.
Jumps jumps_within(const CodeRows& rows, std::span<const std::uint32_t> target_rows, std::uint32_t max_lanes);

}  // namespace profd
