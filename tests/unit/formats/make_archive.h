// Compressed files and archives for tests, made with other code than the reader's where there is some.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace profd::test {

std::string gzip_of(const std::string& content);
std::string lz4_of(const std::string& content);
std::string zstd_of(const std::string& content);
std::string bzip2_of(const std::string& content);
std::string xz_of(const std::string& content);
std::string raw_deflate(const std::string& content);

struct ZipEntry {
  std::string name, content;
  bool deflate = true;
  bool encrypted = false;
};
std::string zip_of(const std::vector<ZipEntry>& entries);

// ustar; a name longer than 100 bytes goes into a pax header.
std::string tar_of(const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace profd::test
