// The user's private folder for sockets, locks and tokens.
#pragma once

#include <string>
#include <string_view>

#include "core/support/result.h"

namespace profd {

// $XDG_RUNTIME_DIR/profd, else /tmp/profd-UID; made with mode 0700. Refused when it belongs to somebody else,
// is a link, or others may enter it.
Result<std::string> runtime_dir();

// A file with mode 0600, written whole or not at all.
Result<void> write_private_file(const std::string& path, std::string_view content);

}  // namespace profd
