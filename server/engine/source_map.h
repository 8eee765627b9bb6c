// SourceMap: the files of one profile and the files of one workspace, each way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/profile.h"
#include "core/source/path_index.h"
#include "core/support/stop.h"
#include "server/engine/workspace_files.h"

namespace profd {

enum class MappingRule : std::uint8_t { exact, prefix, suffix, module };

// What a workspace looks like to a task: immutable, cheap to copy.
struct WorkspaceSnapshot {
  std::string key;                              // equal keys mean equal snapshots
  std::shared_ptr<const WorkspaceFiles> files;  // null until the walk is over
  std::shared_ptr<const PathIndex> documents;   // open documents outside the roots; may be null
  std::vector<PathMapping> mappings;
};

struct SourceTarget {
  std::vector<std::string> paths;  // equally good matches: one when it is clear
  MappingRule rule = MappingRule::suffix;
};

struct SourceMap {
  ProfilePtr profile;                                              // keeps the texts below alive
  std::unordered_map<std::string_view, SourceTarget> targets;      // by path as the profile says
  std::unordered_map<std::string, std::vector<StringId>> by_path;  // unique matches, the other way round
  std::unordered_map<std::string, std::vector<StringId>> tied;     // what matches several, by each of these
  std::size_t n_ties = 0;
  std::string first_tie;

  // The workspace file of a profile's path; null when there is none or several.
  [[nodiscard]] const std::string* file_of(std::string_view profile_path) const;
  [[nodiscard]] std::size_t memory() const;
};

// One path; no match gives no paths.
SourceTarget find_source(const WorkspaceSnapshot& workspace, std::string_view profile_path);
Result<std::shared_ptr<const SourceMap>> make_source_map(const ProfilePtr& profile,
                                                         const WorkspaceSnapshot& workspace, StopToken stop);

}  // namespace profd
