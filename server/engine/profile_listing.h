// What is open, taken at one time: cheap to take on the strand, to be spelled out anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "server/engine/open_profile.h"

namespace profd {

struct ProfileEntry {
  std::string handle, uri, name, format;
  std::string member_name;                  // what the file calls it
  std::uint32_t number = 1, n_in_file = 1;  // its place in the file, from 1
  OpenProfilePtr profile;                   // null while first opened
  std::uint32_t revision = 0;
  enum class State : std::uint8_t { opening, ready, failed } state = State::opening;
  bool is_default = false, attached = false, watched = false;
  bool mine = false;  // whoever asks has it open, or is opening it
  std::size_t memory = 0;
};

struct ProfileListing {
  struct File {
    ProfileEntry common;  // what the rows of the file have in common; the one row while it is first read
    std::vector<OpenProfilePtr> profiles;
    std::vector<std::uint8_t> mine;  // for each of `profiles`
  };
  std::vector<File> files;  // oldest first
  std::string meant;        // handle of the one that whoever asks means; "" none

  [[nodiscard]] std::size_t n_rows() const;
  // Those of whoever asks first; each oldest first.
  [[nodiscard]] std::vector<ProfileEntry> rows() const;
};

}  // namespace profd
