// Secrets that let a client in.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profd {

// So many random bytes of the system, as base64url.
std::string make_secret(std::size_t n_bytes);

// In a time that does not depend on where the texts differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace profd
