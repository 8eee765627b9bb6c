// Source places that are written as URLs.
#pragma once

#include <string>
#include <string_view>

namespace profd {

// "file:///home/me/a%20b.js" -> "/home/me/a b.js", "file:///C:/x.js" -> "C:/x.js"; every other text
// unchanged.
std::string path_from_file_url(std::string_view url);

}  // namespace profd
