// What an image says of other files that belong to it. All of it is a claim: whoever looks for the files
// compares ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "native/elf/image.h"

namespace profd::native {

// .gnu_debuglink: a file name without folders and the CRC-32 of the whole file.
struct DebugLink {
  std::string_view name;
  std::uint32_t crc = 0;
};
std::optional<DebugLink> debug_link(const ElfImage& image);

// The checksum that a debug link states, of `bytes`.
std::uint32_t debug_link_crc(Bytes bytes);

// .gnu_debugaltlink: where dwz put what several files share, and the build id of that file.
struct AlternateLink {
  std::string_view path;
  Bytes build_id;
};
std::optional<AlternateLink> alternate_link(const ElfImage& image);

}  // namespace profd::native
