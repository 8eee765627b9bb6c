// Base64, as JSON carries bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace profd {

std::string to_base64(std::string_view bytes);
// Nothing for what is not whole and padded base64.
std::optional<std::string> from_base64(std::string_view text);
// How many bytes it would be.
std::size_t bytes_in_base64(std::string_view text);

// Of RFC 4648 section 5, without padding: stands in addresses and headers as it is.
std::string to_base64url(std::string_view bytes);

}  // namespace profd
