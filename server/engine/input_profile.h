// An input of a profile that was put together of several, as something that views can be made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "server/engine/open_profile.h"

namespace profd {

// Filters by thread and time need the inputs, as does their code. Of more than these none is kept: they would
// be most of what is held.
inline constexpr std::size_t kMaxKeptInputs = 8;

// By which the view cache knows an input of a profile; they are dropped with it (Views::drop).
inline std::uint64_t view_id_of_input(std::uint64_t view_id, std::size_t input) {
  constexpr int kBitsOfViewId = 48;
  return view_id | std::uint64_t{input + 1} << kBitsOfViewId;
}

// With its own metrics and URI, and the handle and revision of what it is a part of. Null where it is not
// kept, or was put together itself.
OpenProfilePtr open_input(const OpenProfile& open, std::size_t input);
// The file that it was read from; "" it was not read from a file.
std::string file_of_input(const OpenProfile& input);

}  // namespace profd
