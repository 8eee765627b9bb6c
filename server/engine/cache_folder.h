// The files of a cache of the user's: how many there may be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profd {

// Deletes files that end in `suffix`, those first that were used (by mtime) longest ago, until the rest has
// at most `max_bytes`; and what AtomicFile writers that died left an hour ago. Other files stay. What cannot
// be deleted, another process may have deleted already.
void make_room(const std::string& folder, std::string_view suffix, std::uint64_t max_bytes);

}  // namespace profd
