// What .profd.toml says to open: at the beginning, and when its folders change.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "server/dialect/psp/module.h"
#include "server/dialect/psp/opening.h"
#include "server/engine/project_trust.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

class ProjectModule final : public Module {
 public:
  explicit ProjectModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder&) override {}
  void start() override;

 private:
  void watch_project_folders();
  void load_project_profiles();
  void say_once(const std::string& what, const std::string& text);

  SessionContext& session_;
  std::set<std::string> project_profiles_;  // paths that were opened because the project file says so
  std::set<std::string> watched_folders_;   // of the project file's globs
  std::set<std::string> said_;              // what is told once in a session
};

void ProjectModule::start() {
  for (const std::string& problem : session_.workspace.project_problems())
    session_.show_message(psp::MessageType::warning, problem);
  watch_project_folders();
  load_project_profiles();
}

void ProjectModule::say_once(const std::string& what, const std::string& text) {
  if (said_.insert(what).second) session_.show_message(psp::MessageType::warning, text);
}

// Every folder that a glob of the project file reaches into: `**` reaches into new ones too, so they are
// looked for again whenever one of them changes. Watched first and read then, so that nothing falls between.
void ProjectModule::watch_project_folders() {
  constexpr std::size_t kMaxFolders = 2000;
  if (!session_.workspace.project()) return;
  for (const std::string& glob : session_.workspace.project()->profiles)
    for (const std::string& folder : glob_folders(glob, kMaxFolders)) {
      if (watched_folders_.size() >= kMaxFolders)
        return say_once(
            "watch", fmt::format("{}: `profiles` reaches into more than {} folders; new profiles in the rest "
                                 "are not noticed",
                                 session_.workspace.project()->path, kMaxFolders));
      if (!watched_folders_.insert(folder).second) continue;
      const WatchKind kind = session_.engine.watch_folder(session_.client, folder, [this] {
        watch_project_folders();
        load_project_profiles();
      });
      if (kind == WatchKind::none_left)
        say_once("no watches", session_.workspace.project()->path + ": " + no_watches_left());
    }
}

void ProjectModule::load_project_profiles() {
  constexpr std::size_t kMaxProfiles = 16;
  if (!session_.workspace.project()) return;
  GlobMatches found = expand_globs(session_.workspace.project()->profiles, kMaxProfiles);
  std::vector<std::string>& paths = found.paths;
  const std::string& project = session_.workspace.project()->path;
  for (const std::string& outside : take_out_outside(session_.workspace.project()->root, paths))
    say_once(
        "outside " + outside,
        fmt::format("{}: {} is not loaded: it is a link that leads out of the project", project, outside));
  if (found.n_left_out > 0)
    say_once("globs",
             fmt::format("{}: `profiles` matches {} files; the {} newest are loaded, {} are left out",
                         project, paths.size() + found.n_left_out, kMaxProfiles, found.n_left_out));
  if (!found.complete)
    say_once(
        "walk",
        fmt::format("{}: `profiles` reaches into more files and folders than are looked at; there may be "
                    "profiles that are not loaded",
                    project));
  // Oldest first, so that the newest is what is meant where none is named.
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    OpenRequest request;
    request.uri = uri_of_path(*path);
    if (!project_profiles_.insert(*path).second) continue;  // watched already, or closed by the user
    request.metric = session_.workspace.metric().value_or("");
    session_.opening.open(
        std::move(request), std::nullopt, [](const std::function<void()>&) {},
        [this, alive = session_.alive, path = *path](Result<OpenAnswer> answer) {
          if (*alive && !answer)
            session_.show_message(psp::MessageType::warning, to_psp(answer.error(), path).message);
        });
  }
}

}  // namespace

std::unique_ptr<Module> make_project_module(SessionContext& session) {
  return std::make_unique<ProjectModule>(session);
}

}  // namespace profd
