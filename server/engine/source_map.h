// SourceMap: the files of one profile and the files of one workspace, each way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/profile.h"
#include "core/source/name_evidence.h"
#include "core/source/path_index.h"
#include "core/support/stop.h"
#include "server/engine/workspace_files.h"

namespace profd {

// What a workspace looks like to a task: immutable, cheap to copy.
struct WorkspaceSnapshot {
  std::string key;                              // equal keys mean equal snapshots
  std::shared_ptr<const WorkspaceFiles> files;  // null until the walk is over
  std::shared_ptr<const PathIndex> documents;   // open documents outside the roots; may be null
  std::vector<PathMapping> mappings;
};

// Why it is not certain that the profile means a file, or why it is held for another one.
enum class Doubt : std::uint8_t {
  none,
  name_only,      // nothing but the base name agrees
  other_file,     // the profile's own path is another file on this machine
  no_function,    // none of the profile's functions stands in its text
  too_short,      // the profile has lines past its end
  claimed_twice,  // several paths of the profile have no more than the base name in common with it
};

struct SourceTarget {
  std::vector<std::string> paths;  // equally good matches: one when it is clear
  MappingRule rule = MappingRule::suffix;
  std::size_t components = 0;  // as in PathMatch
  bool whole = false;
  bool same_text = false;  // the profile's own path is a file here, and of the same text
  Doubt doubt = Doubt::none;
  std::string lookalike;  // the file that only seemed to be meant, for `doubt`; then there are no paths
};

struct SourceMap {
  struct Lookalike {
    StringId file;  // as the profile says
    Doubt doubt = Doubt::none;
  };
  ProfilePtr profile;                                              // keeps the texts below alive
  std::unordered_map<std::string_view, SourceTarget> targets;      // by path as the profile says
  std::unordered_map<std::string, std::vector<StringId>> by_path;  // unique matches, the other way round
  std::unordered_map<std::string, std::vector<StringId>> tied;     // what matches several, by each of these
  std::unordered_map<std::string, std::vector<Lookalike>> lookalikes;  // what was held for another file
  std::size_t n_ties = 0;
  std::string first_tie;

  // The workspace file of a profile's path; null when there is none or several.
  [[nodiscard]] const std::string* file_of(std::string_view profile_path) const;
  [[nodiscard]] std::size_t memory() const;
};

// One path; no match gives no paths. Looks at the file system where the path alone does not decide.
SourceTarget find_source(const WorkspaceSnapshot& workspace, std::string_view profile_path);
// Functions and their lines in these files of the profile, by file. Each function once. `of`: of the frames
// that are 1 there alone; empty: of all.
std::unordered_map<std::uint32_t, std::vector<NamedLine>> named_lines_of(
    const Profile& profile, const std::vector<StringId>& files, const std::vector<std::uint8_t>& of = {});
// What the text of the file says about a match.
SourceTarget judge_text(SourceTarget target, const NameEvidence& names);
Result<std::shared_ptr<const SourceMap>> make_source_map(const ProfilePtr& profile,
                                                         const WorkspaceSnapshot& workspace, StopToken stop);

}  // namespace profd
