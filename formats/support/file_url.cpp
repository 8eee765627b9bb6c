#include "formats/support/file_url.h"

#include <charconv>

namespace profd {

std::string path_from_file_url(std::string_view url) {
  if (!url.starts_with("file://")) return std::string(url);
  std::string_view rest = url.substr(7);
  if (rest.starts_with("localhost/")) rest.remove_prefix(9);
  const bool drive = rest.size() >= 3 && rest[0] == '/' && rest[2] == ':';
  if (drive) rest.remove_prefix(1);
  std::string path;
  path.reserve(rest.size());
  for (std::size_t i = 0; i < rest.size(); ++i) {
    unsigned byte = 0;
    if (rest[i] == '%' && i + 2 < rest.size()) {
      const auto [stop, error] = std::from_chars(rest.data() + i + 1, rest.data() + i + 3, byte, 16);
      if (error == std::errc() && stop == rest.data() + i + 3) {
        path.push_back(static_cast<char>(byte));
        i += 2;
        continue;
      }
    }
    path.push_back(rest[i]);
  }
  return path;
}

}  // namespace profd
