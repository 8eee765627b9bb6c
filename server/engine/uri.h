// file: URIs and paths.
#pragma once

#include <string>
#include <string_view>

#include "core/support/result.h"

namespace profd {

// The absolute, lexically normal path of a file URI; a plain absolute path is taken too. `invalid` for other
// schemes, other hosts, relative paths and embedded zero bytes.
Result<std::string> path_of_uri(std::string_view uri);
std::string uri_of_path(std::string_view path);

// A value in a fragment of an address: everything but letters, digits and "-._~" as %XX; and back, where a
// space may be + too. `invalid` for a % that no two hex digits follow.
std::string percent_encoded(std::string_view text);
Result<std::string> fragment_decoded(std::string_view text);

// Whether `path` is `folder` or lies below it. Both lexically normal.
bool lies_below(std::string_view path, std::string_view folder);

}  // namespace profd
