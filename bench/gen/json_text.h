#pragma once

#include <string>
#include <string_view>

namespace profd::bench {

// Appends a JSON string; the generator's names are ASCII without control characters.
inline void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

}  // namespace profd::bench
