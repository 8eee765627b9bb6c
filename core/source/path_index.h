// PathIndex: from the paths a profile writes to the files of a workspace and back, by the longest common
// suffix of path components. Ties are reported, never guessed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace profd {

struct PathMapping {
  std::string from, to;  // prefix of a profile path -> prefix of a workspace path
};

struct PathMatch {
  std::vector<std::string> candidates;  // best first; more than one means a tie
  std::size_t components = 0;           // how many trailing components agree
};

class PathIndex {
 public:
  void add(std::string_view path);
  std::size_t size() const { return paths_.size(); }
  // Configured prefixes first, then the longest common suffix, then module-style paths
  // ("github.com/u/m@v1.2.3/a.go" -> ".../m/a.go"). A bare base name alone is a match only when unique.
  PathMatch find(std::string_view profile_path, const std::vector<PathMapping>& mappings) const;

 private:
  std::vector<std::string> paths_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> by_base_name_;
};

}  // namespace profd
