// What stands in front of the records of a memray recording, of the versions 8 to 13.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/support/byte_cursor.h"

namespace profd::memray {

inline constexpr std::uint32_t kOldest = 8, kNewest = 13;
// From here on code is told with its table of lines, and records say more in a byte.
inline constexpr std::uint32_t kPacked = 12;

struct Header {
  std::uint32_t version = 0;
  std::uint32_t python = 0;  // as sys.hexversion; 0: not said
  bool native = false;       // allocations name a native stack
  bool aggregated = false;
  bool objects = false;  // objects are told apart from the memory they lie in
  std::uint64_t n_allocations = 0;
  std::int64_t start_ms = 0, end_ms = 0;  // since the epoch
  std::string_view command;
  std::int32_t pid = 0;
  std::uint64_t main_thread = 0, n_skipped = 0;  // frames of memray itself, outermost on the main thread
};

bool has_mark(std::string_view text);
// Leaves the cursor at the first record.
Result<Header> read_header(ByteCursor& in);

}  // namespace profd::memray
