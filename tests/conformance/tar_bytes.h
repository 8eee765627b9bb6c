// A tar archive in memory, for formats whose unit is a folder.
#pragma once

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace profd::test {

inline std::string tar_bytes(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out;
  for (const auto& [name, content] : members) {
    char header[512] = {};
    std::snprintf(header, 100, "%s", name.c_str());
    std::snprintf(header + 100, 8, "0000644");
    std::snprintf(header + 124, 12, "%011zo", content.size());
    std::snprintf(header + 136, 12, "%011o", 0);
    header[156] = '0';
    std::memcpy(header + 257, "ustar\00000", 8);
    std::memset(header + 148, ' ', 8);
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    std::snprintf(header + 148, 8, "%06o", sum);
    out.append(header, 512);
    out += content;
    out.append((512 - content.size() % 512) % 512, '\0');
  }
  return out + std::string(1024, '\0');
}

}  // namespace profd::test
