#include "server/cli/joined_path.h"

namespace profd {

std::string joined_path(std::span<const std::string_view> names) {
  std::string out;
  bool first = true;
  for (const std::string_view name : names) {
    if (!first) out += ';';
    first = false;
    if (!name.empty() && name.find_first_of(";\"\\") == std::string_view::npos) {
      out += name;
      continue;
    }
    out += '"';
    for (const char c : name) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += '"';
  }
  return out;
}

}  // namespace profd
