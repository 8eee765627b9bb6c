#include "core/source/path_index.h"

#include <algorithm>

namespace profd {
namespace {

using Components = std::vector<std::string_view>;

bool is_separator(char ch) {
  return ch == '/' || ch == '\\';
}

// Without empty components and ".", so that "a//b/./c" is "a/b/c".
Components components_of(std::string_view path) {
  Components out;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= path.size(); ++i) {
    if (i < path.size() && !is_separator(path[i])) continue;
    const std::string_view part = path.substr(begin, i - begin);
    if (!part.empty() && part != ".") out.push_back(part);
    begin = i + 1;
  }
  return out;
}

bool is_major_version(std::string_view part) {
  return part.size() > 1 && part.front() == 'v' &&
         part.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

// "m@v1.2.3" -> "m", and the "v2" of a module's major version goes.
Components without_versions(const Components& path) {
  Components out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::string_view part = i + 1 < path.size() ? path[i].substr(0, path[i].find('@')) : path[i];
    if (part.empty() || (i + 1 < path.size() && is_major_version(part))) continue;
    out.push_back(part);
  }
  return out;
}

std::size_t common(const Components& a, const Components& b) {
  const auto [end, unused] = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  static_cast<void>(unused);
  return static_cast<std::size_t>(end - a.rbegin());
}

// Where `path` goes on after the prefix, at a component's edge; npos when it does not start so.
std::size_t after_prefix(std::string_view path, std::string_view prefix) {
  while (!prefix.empty() && is_separator(prefix.back())) prefix.remove_suffix(1);
  if (!path.starts_with(prefix)) return std::string_view::npos;
  if (path.size() > prefix.size() && !is_separator(path[prefix.size()])) return std::string_view::npos;
  return prefix.size();
}

}  // namespace

void PathIndex::add(std::string_view path) {
  const Components parts = components_of(path);
  if (parts.empty()) return;
  auto& same_name = by_base_name_[std::string(parts.back())];
  for (std::uint32_t id : same_name) {
    if (paths_[id] == path) return;
  }
  same_name.push_back(static_cast<std::uint32_t>(paths_.size()));
  paths_.emplace_back(path);
  // Two texts, where they do not fit into the string itself, and a node of the table for most.
  bytes_ += 2 * sizeof(std::string) + path.size() + parts.back().size() + 64;
}

PathMatch PathIndex::find_other_language(std::string_view profile_path,
                                         const std::vector<PathMapping>& mappings) const {
  constexpr std::string_view kJava = ".java";
  if (!profile_path.ends_with(kJava)) return {};
  const std::string stem(profile_path.substr(0, profile_path.size() - kJava.size()));
  for (const std::string_view ending : {".kt", ".scala", ".groovy", ".clj"}) {
    PathMatch match = find(stem + std::string(ending), mappings);
    if (!match.candidates.empty()) return match;
  }
  return {};
}

PathMatch PathIndex::find(std::string_view profile_path, const std::vector<PathMapping>& mappings) const {
  const Components wanted = components_of(profile_path);
  if (wanted.empty()) return {};
  const auto same_name = by_base_name_.find(std::string(wanted.back()));
  if (same_name == by_base_name_.end()) return find_other_language(profile_path, mappings);
  const std::vector<std::uint32_t>& ids = same_name->second;

  std::vector<const PathMapping*> longest_first;
  longest_first.reserve(mappings.size());
  for (const PathMapping& mapping : mappings) longest_first.push_back(&mapping);
  std::stable_sort(
      longest_first.begin(), longest_first.end(),
      [](const PathMapping* a, const PathMapping* b) { return a->from.size() > b->from.size(); });
  for (const PathMapping* mapping : longest_first) {
    const std::size_t rest = after_prefix(profile_path, mapping->from);
    if (rest == std::string_view::npos) continue;
    Components mapped = components_of(mapping->to);
    const Components tail = components_of(profile_path.substr(rest));
    mapped.insert(mapped.end(), tail.begin(), tail.end());
    for (std::uint32_t id : ids) {
      if (components_of(paths_[id]) == mapped)
        return {{paths_[id]}, mapped.size(), MappingRule::prefix, true};
    }
  }

  const Components unversioned = without_versions(wanted);
  PathMatch best;
  bool cut = false;
  for (std::uint32_t id : ids) {
    const Components candidate = components_of(paths_[id]);
    if (candidate == wanted) return {{paths_[id]}, wanted.size(), MappingRule::exact, true};
    const std::size_t plain = common(wanted, candidate), bare = common(unversioned, candidate);
    const std::size_t n = std::max(plain, bare);
    if (n > best.components) {
      best.candidates.clear();
      best.components = n;
      best.rule = bare > plain ? MappingRule::module : MappingRule::suffix;
      best.whole = n == (bare > plain ? unversioned : wanted).size();
    }
    if (n == best.components && best.candidates.size() < kMaxCandidates)
      best.candidates.push_back(paths_[id]);
    cut = cut || (n == best.components && best.candidates.size() == kMaxCandidates);
  }
  if (best.components == 1 && best.candidates.size() > 1 && wanted.size() > 1) return {};
  if (!cut) std::sort(best.candidates.begin(), best.candidates.end());
  return best;
}

}  // namespace profd
