// PathIndex: from the paths a profile writes to the files of a workspace and back, by the longest common
// suffix of path components. Ties are reported, never guessed. "/" and "\" both separate components; upper
// and lower case are told apart.
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

enum class MappingRule : std::uint8_t { exact, prefix, suffix, module };

struct PathMatch {
  std::vector<std::string> candidates;  // best first, at most kMaxCandidates; more than one means a tie
  std::size_t components = 0;           // how many trailing components agree; 1: the base name alone
  MappingRule rule = MappingRule::suffix;
  bool whole = false;  // nothing of the profile's path is left over
};

class PathIndex {
 public:
  static constexpr std::size_t kMaxCandidates = 16;

  // Adding a path again changes nothing.
  void add(std::string_view path);
  std::size_t size() const { return paths_.size(); }
  // Bytes, nearly.
  std::size_t memory() const { return bytes_; }
  // Configured prefixes first (the longest that fits and leads to a file of the index), then the longest
  // common suffix, where a module-style path also matches without its version ("github.com/u/m@v1.2.3/a.go",
  // ".../m/v2/a.go" -> ".../m/a.go"). A base name alone is a match only when one file has it; a profile path
  // that is no more than a base name ties with all that have it. Of Java's machine profiles often tell
  // classes alone: where there is no Foo.java, Foo.kt and its like are asked.
  PathMatch find(std::string_view profile_path, const std::vector<PathMapping>& mappings) const;

 private:
  PathMatch find_other_language(std::string_view profile_path,
                                const std::vector<PathMapping>& mappings) const;

  std::vector<std::string> paths_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> by_base_name_;
  std::size_t bytes_ = 0;
};

}  // namespace profd
