// Lines of files of a workspace, for answers that quote them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/support/stop.h"

namespace profd {

// Each file is read when its first line is asked for; 64 of them at most, of further ones nothing is known.
class SourceLines {
 public:
  // `folders` and `stop` outlive it; files outside of the folders are not read.
  SourceLines(const std::vector<std::string>& folders, const StopToken& stop)
      : folders_(folders), stop_(stop) {}

  // `number`: from 1.
  std::optional<std::string> line(const std::string& path, std::uint32_t number);

 private:
  [[nodiscard]] std::vector<std::string> read(const std::string& path) const;

  const std::vector<std::string>& folders_;
  const StopToken& stop_;
  std::map<std::string, std::vector<std::string>> lines_;
};

}  // namespace profd
