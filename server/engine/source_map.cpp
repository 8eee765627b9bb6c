#include "server/engine/source_map.h"

#include <utility>

namespace profd {
namespace {

MappingRule rule_of(const WorkspaceSnapshot& workspace, std::string_view profile_path,
                    const std::string& path) {
  if (profile_path == path) return MappingRule::exact;
  for (const PathMapping& mapping : workspace.mappings)
    if (profile_path.substr(0, mapping.from.size()) == mapping.from &&
        path.compare(0, mapping.to.size(), mapping.to) == 0)
      return MappingRule::prefix;
  return profile_path.find('@') != profile_path.npos ? MappingRule::module : MappingRule::suffix;
}

}  // namespace

const std::string* SourceMap::file_of(std::string_view profile_path) const {
  const auto found = targets.find(profile_path);
  return found != targets.end() && found->second.paths.size() == 1 ? &found->second.paths.front() : nullptr;
}

std::size_t SourceMap::memory() const {
  return (targets.size() + by_path.size() + tied.size()) * 160;
}

SourceTarget find_source(const WorkspaceSnapshot& workspace, std::string_view profile_path) {
  SourceTarget target;
  if (profile_path.empty()) return target;
  if (workspace.files)
    target.paths = workspace.files->index.find(profile_path, workspace.mappings).candidates;
  if (target.paths.empty() && workspace.documents)
    target.paths = workspace.documents->find(profile_path, workspace.mappings).candidates;
  if (!target.paths.empty()) target.rule = rule_of(workspace, profile_path, target.paths.front());
  return target;
}

Result<std::shared_ptr<const SourceMap>> make_source_map(const ProfilePtr& profile,
                                                         const WorkspaceSnapshot& workspace, StopToken stop) {
  auto map = std::make_shared<SourceMap>();
  map->profile = profile;
  std::vector<std::uint8_t> seen(profile->strings().size(), 0);
  const auto add = [&](StringId file) {
    if (file.v >= seen.size() || std::exchange(seen[file.v], 1) != 0) return;
    const std::string_view path = profile->strings()[file];
    SourceTarget target = find_source(workspace, path);
    if (target.paths.empty()) return;
    if (target.paths.size() == 1) {
      map->by_path[target.paths.front()].push_back(file);
    } else {
      if (map->n_ties++ == 0) map->first_tie = path;
      for (const std::string& candidate : target.paths) map->tied[candidate].push_back(file);
    }
    map->targets.emplace(path, std::move(target));
  };
  for (const StringId file : profile->frames().file) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    add(file);
  }
  for (const StringId file : profile->functions().file) add(file);
  return std::shared_ptr<const SourceMap>(std::move(map));
}

}  // namespace profd
