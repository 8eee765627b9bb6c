#include "formats/pstats/functions.h"

#include <algorithm>

namespace profd::pstats {

std::string without_addresses(std::string_view name) {
  constexpr std::string_view kAt = " at 0x";
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = name.find(kAt); at != name.npos; at = name.find(kAt, at + kAt.size())) {
    const std::size_t digits = at + kAt.size();
    const std::size_t end = std::min(name.find_first_not_of(kHex, digits), name.size());
    if (end == digits) continue;
    out += name.substr(done, digits - done);
    out += "…";
    done = end;
  }
  if (done > 0) out += name.substr(done);
  return out;
}

}  // namespace profd::pstats
