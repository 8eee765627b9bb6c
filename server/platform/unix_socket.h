// Unix sockets of the user: mode 0600, and nobody else on the other end.
#pragma once

#include <string>

#include "core/support/result.h"
#include "core/support/unique_fd.h"

namespace profd {

// Listens on `path`. A socket file that nobody answers on is removed; one that is answered gives an `io`
// error saying that the path is in use. Anything else at the path is left alone and refused.
Result<UniqueFd> listen_unix(const std::string& path);

// `not_found` when nobody listens there.
Result<UniqueFd> connect_unix(const std::string& path);

// Whether the process at the other end of a connected socket runs as this user (or as root).
Result<void> check_peer(int fd);

}  // namespace profd
