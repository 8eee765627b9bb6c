// Whose a connection on this machine is.
#pragma once

#include <cstdint>
#include <optional>

namespace profd {

// The user at the other end of a loopback connection from port `theirs` to port `ours`, as far as the system
// tells; nothing where it does not.
std::optional<std::uint32_t> owner_of_connection(std::uint16_t theirs, std::uint16_t ours);

}  // namespace profd
