#include "server/cli/sets_here.h"

#include <filesystem>
#include <system_error>

#include "server/cli/profile_options.h"
#include "server/engine/project_watch.h"
#include "server/engine/rule_sets.h"

namespace profd {
namespace {

Settings project_settings() {
  std::error_code failed;
  ProjectFound project = find_project({std::filesystem::current_path(failed).string()});
  return project.file ? std::move(project.file->settings) : Settings();
}

}  // namespace

FrameSetsPtr sets_here(bool mine) {
  if (!mine) return frame_sets(project_settings().sets, nullptr);
  auto own_code = std::make_shared<FrameRule>();
  own_code->id = "mine here";
  own_code->matches = [](const Profile& profile, StopToken stop) {
    return mine_here()->matches(profile, std::move(stop));
  };
  return frame_sets(project_settings().sets, std::move(own_code));
}

TipRules tips_here() {
  const Settings settings = project_settings();
  return tip_rules(settings.tips, settings.tips_off);
}

}  // namespace profd
