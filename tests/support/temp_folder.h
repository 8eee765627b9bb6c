// A folder that lives as long as the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace profd::test {

struct TempFolder {
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "profd-test-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  // Makes the folders on the way.
  std::string file(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << content;
    return (path / name).string();
  }
  std::filesystem::path path;
};

}  // namespace profd::test
