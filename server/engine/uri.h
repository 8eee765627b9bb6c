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

// Whether `path` is `folder` or lies below it. Both lexically normal.
bool lies_below(std::string_view path, std::string_view folder);

}  // namespace profd
