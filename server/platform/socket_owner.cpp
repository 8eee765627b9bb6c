#include "server/platform/socket_owner.h"

#include <cstdio>
#include <fstream>
#include <string>

namespace profd {

std::optional<std::uint32_t> owner_of_connection(std::uint16_t theirs, std::uint16_t ours) {
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream lines(table);
    // "0: 0100007F:9C4B 0100007F:1F90 01 tx:rx tr:when retransmits uid ..."
    for (std::string line; std::getline(lines, line);) {
      unsigned from = 0, to = 0, user = 0;
      const int n = std::sscanf(line.c_str(), " %*[^:]: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%x %*s %*s %*s %*s %u",
                                &from, &to, &user);
      if (n == 3 && from == theirs && to == ours) return user;
    }
  }
  return std::nullopt;
}

}  // namespace profd
