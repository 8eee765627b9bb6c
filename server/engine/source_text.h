// Files of the user that a profile speaks of, read within limits. For workers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace profd {

inline constexpr std::size_t kMaxSourceBytes = std::size_t{4} << 20;

// The text of a regular file; nothing when it is none, cannot be read or is larger than kMaxSourceBytes.
std::optional<std::string> read_source(const std::string& path);
// Whether an absolute path is that of a regular file. Looks, opens nothing; false for what names another
// host.
bool is_local_file(std::string_view path);
// One file under two paths, or two files of one text.
bool same_text(const std::string& a, const std::string& b);

}  // namespace profd
