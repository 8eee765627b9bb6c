// UTF-8 checks and repair, and what lies around a text.
#pragma once

#include <string>
#include <string_view>

namespace profd {

bool is_valid_utf8(std::string_view text);
// Every maximal ill-formed run of bytes becomes one U+FFFD.
std::string repair_utf8(std::string_view text);
// At most so many bytes of UTF-8 and, where something was cut off, "…".
std::string cut_bytes(std::string text, std::size_t n_bytes);
// Without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace profd
