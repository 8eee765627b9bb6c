// What the archive formats (zip, tar) list: members in order of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/support/expansion.h"

namespace profd {

struct ArchiveMember {
  std::string name;                    // as stored, valid UTF-8
  std::span<const std::byte> data;     // inside the archive; deflated when `deflated`
  std::uint64_t size = 0;              // expanded
  std::optional<std::uint32_t> crc32;  // of the expanded bytes, where the archive says
  bool deflated = false;
  bool encrypted = false;
  bool readable = true;  // false: a compression method that is not read
};

// More members than this is `limit`: listing must stay cheap for any file.
inline constexpr std::size_t kMaxArchiveMembers = 100'000;

}  // namespace profd
