// From pprof records to the builder's dictionary: modules, functions and the frames of every location.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/pprof/id_map.h"
#include "formats/pprof/records.h"

namespace profd::pprof {

// What drop_frames (prune.h) says of a location: it stays, goes with all it calls, or stays and ends the
// stack.
enum class Prune : std::uint8_t { no, whole, beneath };

// In Dictionary::quick: the location has not exactly one frame; the rest of the number is its row.
inline constexpr std::uint32_t kManyFrames = 0x80000000u;

struct Dictionary {
  IdMap location_row;
  // Row l owns frames [first_frame[l], first_frame[l + 1]), root first.
  std::vector<std::uint32_t> first_frame;
  std::vector<std::uint32_t> frames;
  // By location id where ids are dense (nearly always): the frame of a location that has just one, else
  // kManyFrames + its row, or kNone. One look-up a stack entry instead of three.
  std::vector<std::uint32_t> quick;
  std::vector<Prune> prune;  // empty when nothing is dropped
};

Result<Dictionary> build_dictionary(const Records& records, ProfileBuilder& builder, ImportReport& report);

}  // namespace profd::pprof
