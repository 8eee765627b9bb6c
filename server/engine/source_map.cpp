#include "server/engine/source_map.h"

#include <algorithm>
#include <utility>

#include "core/source/annotations.h"
#include "server/engine/source_text.h"

namespace profd {
namespace {

void refuse(SourceTarget& target, Doubt doubt) {
  target.doubt = doubt;
  target.lookalike = std::move(target.paths.front());
  target.paths.clear();
}

bool needs_no_evidence(const SourceTarget& target) {
  return target.rule == MappingRule::exact || target.rule == MappingRule::prefix || target.same_text;
}

bool by_name_alone(const SourceTarget& target) {
  return target.paths.size() == 1 && target.components == 1 && !needs_no_evidence(target);
}

// Matches by name alone are believed when no other path of the profile has the same claim, and the text does
// not speak against it. They are few; more than this many keep their doubt unread.
Result<void> check_name_only(SourceMap& map, StopToken& stop) {
  constexpr std::size_t kMaxRead = 2000;
  std::unordered_map<std::string, std::vector<StringId>> claims;
  std::vector<StringId> files;
  for (const auto& [path, spellings] : map.by_path)
    for (const StringId file : spellings)
      if (by_name_alone(map.targets.at(map.profile->strings()[file]))) {
        claims[path].push_back(file);
        files.push_back(file);
      }
  if (claims.empty()) return {};
  // A diff has the lines of two texts, of which that of the side after is what the workspace should have.
  const Composition* const composition = map.profile->composition();
  const bool is_diff = composition != nullptr && composition->kind == Composed::diff;
  const auto named = named_lines_of(
      *map.profile, files,
      is_diff ? composition->has_frame(false, map.profile->frames().size()) : std::vector<std::uint8_t>());
  std::size_t n_read = 0;
  for (const auto& [path, spellings] : claims) {
    PROFD_CHECK(stop.status());
    const auto text = spellings.size() == 1 && n_read++ < kMaxRead ? read_source(path) : std::nullopt;
    // A bare name is no other path: it may be the same file, written shorter.
    const auto is_bare = [&](StringId file) { return map.targets.at(map.profile->strings()[file]).whole; };
    const bool twice =
        std::count_if(spellings.begin(), spellings.end(), [&](StringId file) { return !is_bare(file); }) > 1;
    for (const StringId file : spellings) {
      SourceTarget& target = map.targets.at(map.profile->strings()[file]);
      const bool better = map.by_path.at(path).size() > spellings.size();
      if (!is_bare(file) && (twice || better)) {
        refuse(target, Doubt::claimed_twice);
      } else if (const auto lines = named.find(file.v); text && lines != named.end()) {
        target = judge_text(std::move(target), look_for_names(*text, lines->second));
      }
    }
  }
  return {};
}

void drop_lookalikes(SourceMap& map) {
  for (auto& item : map.by_path)
    std::erase_if(item.second, [&](StringId file) {
      const SourceTarget& target = map.targets.at(map.profile->strings()[file]);
      if (target.lookalike.empty()) return false;
      map.lookalikes[item.first].push_back({file, target.doubt});
      return true;
    });
  std::erase_if(map.by_path, [](const auto& item) { return item.second.empty(); });
  std::erase_if(map.targets, [](const auto& item) { return item.second.paths.empty(); });
}

}  // namespace

const std::string* SourceMap::file_of(std::string_view profile_path) const {
  const auto found = targets.find(profile_path);
  return found != targets.end() && found->second.paths.size() == 1 ? &found->second.paths.front() : nullptr;
}

std::size_t SourceMap::memory() const {
  return (targets.size() + by_path.size() + tied.size() + lookalikes.size()) * 160;
}

SourceTarget find_source(const WorkspaceSnapshot& workspace, std::string_view profile_path) {
  SourceTarget target;
  if (profile_path.empty()) return target;
  PathMatch match;
  if (workspace.files) match = workspace.files->index.find(profile_path, workspace.mappings);
  if (match.candidates.empty() && workspace.documents)
    match = workspace.documents->find(profile_path, workspace.mappings);
  target.paths = std::move(match.candidates);
  target.rule = match.rule;
  target.components = match.components;
  target.whole = match.whole;
  if (target.paths.size() != 1 || needs_no_evidence(target)) return target;
  if (!match.whole && is_local_file(profile_path)) {
    target.same_text = same_text(target.paths.front(), std::string(profile_path));
    if (target.same_text) return target;
    if (match.components == 1)
      refuse(target, Doubt::other_file);
    else
      target.doubt = Doubt::other_file;
  } else if (match.components == 1) {
    target.doubt = Doubt::name_only;
  }
  return target;
}

std::unordered_map<std::uint32_t, std::vector<NamedLine>> named_lines_of(
    const Profile& profile, const std::vector<StringId>& files, const std::vector<std::uint8_t>& of) {
  std::vector<std::uint8_t> wanted(profile.strings().size(), 0);
  for (const StringId file : files) wanted[file.v] = 1;
  const FunctionTable& functions = profile.functions();
  const FrameTable& frames = profile.frames();
  // The first line of each function's code, where it is not known which line defines it.
  std::vector<std::uint32_t> first(functions.size(), 0), last(functions.size(), 0),
      file_of(functions.size(), 0);
  std::vector<std::uint8_t> is_of(functions.size(), of.empty() ? 1 : 0);
  for (std::size_t f = 0; f < functions.size(); ++f) file_of[f] = functions.file[f].v;
  for (std::size_t f = 0; f < frames.size(); ++f) {
    if (!of.empty() && of[f] == 0) continue;
    const StringId file = file_of_frame(profile, f);
    const std::size_t function = frames.function[f].v;
    is_of[function] = 1;
    if (wanted[file.v] == 0 || frames.line[f] == 0) continue;
    if (file_of[function] == 0) file_of[function] = file.v;
    if (file_of[function] != file.v) continue;  // code of another file that is compiled into it
    std::uint32_t& line = first[function];
    line = line == 0 ? frames.line[f] : std::min(line, frames.line[f]);
    last[function] = std::max(last[function], frames.line[f]);
  }
  std::unordered_map<std::uint32_t, std::vector<NamedLine>> result;
  for (std::size_t f = 0; f < functions.size(); ++f) {
    if (is_of[f] == 0 || wanted[file_of[f]] == 0 || file_of[f] == 0 || functions.unresolved[f] != 0) continue;
    const std::string_view name = profile.strings()[functions.name[f]];
    auto& lines = result[file_of[f]];
    const std::uint32_t start = functions.start_line[f];
    lines.push_back({name, start != 0 ? start : first[f], start != 0, std::max(start, last[f])});
  }
  return result;
}

SourceTarget judge_text(SourceTarget target, const NameEvidence& names) {
  if (target.paths.size() != 1 || needs_no_evidence(target)) return target;
  const bool none_here = names.n_checked > 0 && names.n_near + names.n_elsewhere == 0;
  if (target.components == 1) {
    if (names.contradicts())
      refuse(target, none_here ? Doubt::no_function : Doubt::too_short);
    else
      target.doubt = names.confirms() ? Doubt::none : Doubt::name_only;
  } else if (none_here) {
    // Compilers change names in more ways than are known here: a few of them are no proof.
    const bool proof = !target.whole && target.components == 2 && names.n_checked >= 3;
    if (proof || target.doubt == Doubt::other_file)
      refuse(target, Doubt::no_function);
    else
      target.doubt = Doubt::no_function;
  }
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
    if (!target.lookalike.empty()) map->lookalikes[target.lookalike].push_back({file, target.doubt});
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
  PROFD_CHECK(check_name_only(*map, stop));
  drop_lookalikes(*map);
  return std::shared_ptr<const SourceMap>(std::move(map));
}

}  // namespace profd
