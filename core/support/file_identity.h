// Which file it was that a profiler saw mapped, where no build id says what was in it: the numbers that its
// file system calls it by. They are good on the machine that was recorded alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace profd {

struct FileIdentity {
  std::uint32_t major = 0, minor = 0;  // of the device
  std::uint64_t inode = 0;             // 0: not known
  std::uint64_t generation = 0;        // of the inode, which a file system may use again

  bool operator==(const FileIdentity&) const = default;
};

// "8:1 1234 7": device, inode and generation in decimal digits.
std::string identity_text(const FileIdentity& identity);
// Nothing where a text is none of those.
std::optional<FileIdentity> parse_identity(std::string_view text);

// Profiles keep it as a property of this name and the path of the file.
constexpr std::string_view kFileIdentityKey = "file ";

}  // namespace profd
