#include "server/engine/mine.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "core/source/annotations.h"
#include "core/support/base_name.h"
#include "core/view/packages.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 9> kFoldersOfOthers = {"vendor",      "node_modules",  "third_party",
                                                              "third-party", "site-packages", "dist-packages",
                                                              ".venv",       "venv",          "external"};

// Whether one part of the path, or several in a row, are `folder`.
bool has_folder(std::string_view path, std::string_view folder) {
  while (folder.ends_with('/')) folder.remove_suffix(1);
  if (folder.empty()) return false;
  for (std::size_t at = path.find(folder); at != std::string_view::npos; at = path.find(folder, at + 1)) {
    const std::size_t end = at + folder.size();
    const bool begins = at == 0 || path[at - 1] == '/' || path[at - 1] == '\\';
    if (begins && end < path.size() && (path[end] == '/' || path[end] == '\\')) return true;
  }
  return false;
}

// "net/http" is in "net", "java.util" in "java", "a::b" in "a".
bool is_in_package(std::string_view package, std::string_view wanted) {
  if (!package.starts_with(wanted) || wanted.empty()) return false;
  const std::string_view rest = package.substr(wanted.size());
  return rest.empty() || rest.front() == '/' || rest.front() == '.' || rest.starts_with("::");
}

bool is_named(const Profile& profile, std::uint32_t frame, std::string_view file,
              const std::vector<std::string>& named) {
  const ModuleId module = profile.frames().module[frame];
  const std::string_view of_module =
      module.valid() ? profile.strings()[profile.modules().name[module.v]] : std::string_view();
  const std::string_view package = package_of(profile, frame);
  return std::any_of(named.begin(), named.end(), [&](std::string_view name) {
    while (name.starts_with("./")) name.remove_prefix(2);
    return file == name || has_folder(file, name) || is_in_package(package, name) ||
           (!of_module.empty() && (of_module == name || base_name(of_module) == name));
  });
}

bool is_of_others(std::string_view path) {
  return std::any_of(kFoldersOfOthers.begin(), kFoldersOfOthers.end(),
                     [&](std::string_view folder) { return has_folder(path, folder); });
}

Result<std::vector<std::uint8_t>> frames_in(const WorkspaceSnapshot& workspace, const Profile& profile,
                                            StopToken stop) {
  // The map looks at the profile while it is made, and no longer lives than this.
  const ProfilePtr borrowed(std::shared_ptr<const Profile>(), &profile);
  PROFD_TRY(const auto sources, make_source_map(borrowed, workspace, std::move(stop)));
  std::unordered_map<std::uint32_t, bool> of_file;
  std::vector<std::uint8_t> mine(profile.frames().size(), 0);
  for (std::uint32_t frame = 0; frame < mine.size(); ++frame) {
    const StringId file = file_of_frame(profile, frame);
    if (file.v == 0) continue;
    const auto [known, fresh] = of_file.try_emplace(file.v, false);
    if (fresh) {
      const std::string* path = sources->file_of(profile.strings()[file]);
      known->second = path != nullptr && !is_of_others(*path) && !is_of_others(profile.strings()[file]);
    }
    mine[frame] = known->second ? 1 : 0;
  }
  return mine;
}

}  // namespace

std::shared_ptr<const FrameRule> mine_rule(WorkspaceSnapshot workspace, std::vector<std::string> named) {
  auto rule = std::make_shared<FrameRule>();
  std::erase_if(named, [](const std::string& name) { return name.empty(); });
  if (named.empty()) {
    rule->id = "files of " + workspace.key;
    rule->matches = [workspace = std::move(workspace)](const Profile& profile, StopToken stop) {
      return frames_in(workspace, profile, std::move(stop));
    };
    return rule;
  }
  rule->id = "named";
  for (const std::string& name : named) rule->id += fmt::format(" {}:{}", name.size(), name);
  rule->matches = [named = std::move(named)](const Profile& profile,
                                             StopToken stop) -> Result<std::vector<std::uint8_t>> {
    std::vector<std::uint8_t> mine(profile.frames().size(), 0);
    for (std::uint32_t frame = 0; frame < mine.size(); ++frame) {
      if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      mine[frame] = is_named(profile, frame, profile.strings()[file_of_frame(profile, frame)], named) ? 1 : 0;
    }
    return mine;
  };
  return rule;
}

void decide_mine(std::vector<Filter>& filters,
                 const std::function<std::shared_ptr<const FrameRule>()>& rule) {
  std::shared_ptr<const FrameRule> made;
  for (Filter& filter : filters) {
    if (filter.by != FilterBy::mine || filter.rule) continue;
    if (!made) made = rule();
    filter.rule = made;
  }
}

}  // namespace profd
