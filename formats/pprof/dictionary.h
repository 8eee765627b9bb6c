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

// Where the frames of a location stand, in four bytes: a stack is one of these an entry, at random places.
struct FewFrames {
  static constexpr std::uint32_t kMost = 4, kMostPlaces = 1u << 29;
  std::uint32_t packed = 7;  // place in Dictionary::frames << 3 | number of frames, or 7: not to be told here

  std::uint32_t first() const { return packed >> 3; }
  std::uint32_t n() const { return packed & 7; }  // beyond kMost: ask Dictionary::location_row
};

struct Dictionary {
  IdMap location_row;
  // Row l owns frames [first_frame[l], first_frame[l + 1]), root first. At the end stand FewFrames::kMost
  // more, so that as many can be copied from every place.
  std::vector<std::uint32_t> first_frame;
  std::vector<std::uint32_t> frames;
  // By location id where ids are dense (nearly always).
  std::vector<FewFrames> quick;
  std::vector<Prune> prune;  // empty when nothing is dropped
};

Result<Dictionary> build_dictionary(const Records& records, ProfileBuilder& builder, ImportReport& report);

}  // namespace profd::pprof
