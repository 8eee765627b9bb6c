// What .profd.toml says to open: at the beginning, and when its folders change.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/dialect/psp/module.h"
#include "server/dialect/psp/opening.h"
#include "server/engine/project_globs.h"
#include "server/engine/project_trust.h"
#include "server/engine/uri.h"
#include "server/engine/watches.h"

namespace profd {
namespace {

class ProjectModule final : public Module {
 public:
  explicit ProjectModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder&) override {}
  void start() override;
  void end() override {
    watches_.clear();
    looking_.reset();
  }

 private:
  void look();
  void take(const ProjectProfiles& seen);
  void say_once(const std::string& what, const std::string& text);

  SessionContext& session_;
  bool is_looking_ = false, look_again_ = false;
  std::shared_ptr<void> looking_;                  // let go, what is looked for is not waited for any more
  std::set<std::string> project_profiles_;         // paths that were opened because the project file says so
  std::map<std::string, Watches::Watch> watches_;  // by folder, of the project file's globs
  std::set<std::string> said_;                     // what is told once in a session
};

void ProjectModule::start() {
  for (const std::string& problem : session_.workspace.project_problems())
    session_.show_message(psp::MessageType::warning, problem);
  if (const auto& project = session_.workspace.project(); project && !project->profiles.empty())
    session_.engine.set_project(session_.client, std::nullopt);
  look();
}

// `**` reaches into new folders, too, so all is looked for again whenever one of them changes: by one look
// for all clients of the project, which begins after the change.
void ProjectModule::look() {
  const auto& project = session_.workspace.project();
  if (!project || project->profiles.empty() || session_.closed) return;
  if (std::exchange(is_looking_, true)) {
    look_again_ = true;
    return;
  }
  std::string key = project->path;
  for (const std::string& glob : project->profiles) key += '\0' + glob;
  looking_ = session_.engine.project_walks().walk(
      session_.client, {key, project->path, false},
      [globs = project->profiles, root = project->root](const StopToken& stop) {
        auto found = std::make_shared<ProjectProfiles>();
        found->matches = match_globs(globs, GlobLimits{}, stop);
        found->outside = take_out_outside(root, found->matches.paths);
        return found;
      },
      [this, alive = session_.alive](const std::shared_ptr<const ProjectProfiles>& found) {
        if (!*alive || session_.closed) return;
        is_looking_ = false;
        take(found ? *found : ProjectProfiles{});
        if (std::exchange(look_again_, false)) look();
      });
}

void ProjectModule::say_once(const std::string& what, const std::string& text) {
  if (said_.insert(what).second) session_.show_message(psp::MessageType::warning, text);
}

void ProjectModule::take(const ProjectProfiles& seen) {
  const GlobMatches& found = seen.matches;
  const std::string& project = session_.workspace.project()->path;
  for (const std::string& outside : seen.outside)
    say_once(
        "outside " + outside,
        fmt::format("{}: {} is not loaded: it is a link that leads out of the project", project, outside));
  for (const std::string& cut : found.cut)
    say_once(cut.substr(0, cut.find_first_of("0123456789")), fmt::format("{}: `profiles` {}", project, cut));
  for (const GlobMatches::WatchedFolder& folder : found.folders) {
    if (watches_.size() >= GlobLimits{}.max_folders || watches_.count(folder.path) != 0) continue;
    const Watches::Watch& watch = watches_[folder.path] =
        session_.engine.watches().folder(folder.path, folder.seen, [this] { look(); });
    if (watch.kind() == WatchKind::none_left) say_once("no watches", project + ": " + no_watches_left());
  }
  // The first of them is what is meant where none is named, and is read first.
  session_.engine.set_project(session_.client, found.paths);
  for (const std::string& path : found.paths) {
    if (!project_profiles_.insert(path).second) continue;  // watched already, or closed by the user
    OpenRequest request;
    request.uri = uri_of_path(path);
    request.make_default = false;
    request.preferred_metric = session_.workspace.metric().value_or("");
    session_.opening.open(
        std::move(request), std::nullopt, [](const std::function<void()>&) {},
        [this, alive = session_.alive, path](Result<OpenAnswer> answer) {
          if (*alive && !answer)
            session_.show_message(psp::MessageType::warning, to_psp(answer.error(), path).message);
        });
  }
  session_.meant_changed();
}

}  // namespace

std::unique_ptr<Module> make_project_module(SessionContext& session) {
  return std::make_unique<ProjectModule>(session);
}

}  // namespace profd
