// What .profd.toml says to open: at the beginning, and when its folders change.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "server/dialect/psp/module.h"
#include "server/dialect/psp/opening.h"
#include "server/engine/glob.h"
#include "server/engine/project_globs.h"
#include "server/engine/project_trust.h"
#include "server/engine/project_watch.h"
#include "server/engine/uri.h"
#include "server/engine/watches.h"
#include "server/feature/escape.h"

namespace profd {
namespace {

// On a worker: 256 globs of 1,024 bytes take a while.
void take_out_listed(const std::vector<std::string>& globs, std::vector<std::string>& paths) {
  for (const std::string& text : globs) {
    if (text.size() > Glob::kMaxBytes) continue;
    const Glob glob(text);
    std::erase_if(paths, [&](const std::string& path) { return glob.matches(path, StopToken()); });
  }
}

class ProjectModule final : public Module {
 public:
  explicit ProjectModule(SessionContext& session)
      : session_(session), file_(std::make_unique<ProjectWatch>(session.engine)) {}
  void bind(protocol::Binder&) override {}
  void start() override;
  void on_files(const std::vector<std::string>& paths) override;
  void on_roots() override;
  void end() override {
    file_->stop();
    watches_.clear();
    looking_.reset();
  }

 private:
  void take_file(ProjectFound found);
  void follow(const std::vector<std::string>& known_problems, const std::optional<std::string>& metric);
  void watch_file();
  void tell();
  void set_metric(const std::string& metric);
  void close_unlisted();
  void close(const std::string& path);
  void look();
  void take(const ProjectProfiles& seen);
  void open(const std::string& path);
  void say_once(const std::string& what, const std::string& text);

  SessionContext& session_;
  std::unique_ptr<ProjectWatch> file_;
  std::vector<std::string> listed_;  // globs that are followed
  bool is_looking_ = false, look_again_ = false;
  std::shared_ptr<void> looking_;  // let go, what is looked for is not waited for any more
  struct Opened {
    std::vector<std::string> handles;
    bool is_over = false;  // read, or failed
  };
  std::map<std::string, Opened> opened_;           // by path, because the project file says so
  std::size_t n_lists_ = 0;                        // how often it said something else
  std::map<std::string, Watches::Watch> watches_;  // by folder, of the project file's globs
  std::set<std::string> said_;                     // what is told once in a session
};

const std::vector<std::string>& globs_of(const Workspace& workspace) {
  static const std::vector<std::string> none;
  return workspace.project() ? workspace.project()->settings.profiles : none;
}

void ProjectModule::start() {
  for (const std::string& problem : session_.workspace.project_problems())
    session_.show_message(psp::MessageType::warning, problem);
  if (!globs_of(session_.workspace).empty()) session_.engine.set_project(session_.client, std::nullopt);
  listed_ = globs_of(session_.workspace);
  tell();
  look();
  watch_file();
}

void ProjectModule::watch_file() {
  file_->start(session_.client, session_.workspace.roots(), session_.workspace.project_places(),
               [this](ProjectFound found) {
                 if (!session_.closed) take_file(std::move(found));
               });
}

// Where nothing is told of changes here, the client's word is taken for it.
void ProjectModule::on_files(const std::vector<std::string>& paths) {
  const bool of_project = std::any_of(
      paths.begin(), paths.end(), [](const std::string& path) { return base_name(path) == ".profd.toml"; });
  if (of_project && session_.workspace.takes_project_file()) {
    const auto found = std::make_shared<ProjectFound>();
    session_.aside(
        Lane::interactive, "project file",
        [found, roots = session_.workspace.roots()] { *found = find_project(roots); },
        [this, found] { take_file(std::move(*found)); });
  }
  std::set<std::string> keys;
  for (const ProfileEntry& entry : session_.engine.list())
    if (entry.profile && entry.profile->loaded)
      for (const WatchedPath& watched : entry.profile->loaded->watched)
        if (std::find(paths.begin(), paths.end(), watched.path) != paths.end())
          keys.insert(entry.profile->origin->key());
  for (const std::string& key : keys) session_.engine.origin_changed(key);
  if (!paths.empty()) look();
}

void ProjectModule::on_roots() {
  file_->stop();
  file_ = std::make_unique<ProjectWatch>(session_.engine);
  follow({}, std::nullopt);
  watch_file();
}

// The file is another: hints, filters, mappings follow at once, its profiles when they are found.
void ProjectModule::take_file(ProjectFound found) {
  Workspace& workspace = session_.workspace;
  const std::vector<std::string> known = workspace.project_problems();
  const std::optional<std::string> metric = workspace.metric();
  workspace.set_project(std::move(found));
  follow(known, metric);
}

// `known_problems`: that were told; `metric`: what the project had before.
void ProjectModule::follow(const std::vector<std::string>& known_problems,
                           const std::optional<std::string>& metric) {
  Workspace& workspace = session_.workspace;
  for (const std::string& problem : workspace.project_problems())
    if (std::find(known_problems.begin(), known_problems.end(), problem) == known_problems.end())
      session_.show_message(psp::MessageType::warning, problem);
  if (workspace.metric() && workspace.metric() != metric) set_metric(*workspace.metric());
  tell();
  if (globs_of(workspace) == listed_) return;
  listed_ = globs_of(workspace);
  ++n_lists_;
  close_unlisted();
  said_.clear();
  watches_.clear();
  looking_.reset();
  is_looking_ = look_again_ = false;
  if (!globs_of(workspace).empty()) return look();
  session_.engine.set_project(session_.client, std::vector<std::string>());
  session_.meant_changed();
}

void ProjectModule::tell() {
  if (!session_.can.project) return;
  psp::ProjectParams params;
  if (const auto& project = session_.workspace.project()) params.uri = uri_of_path(project->path);
  params.profiles = static_cast<std::uint32_t>(globs_of(session_.workspace).size());
  for (const std::string& problem : session_.workspace.project_problems())
    params.problems.push_back(sanitize_text(problem));
  session_.peer->notify<psp::ProjectNotification>(params);
}

// A project's metric is a wish: profiles that lack it stay as they are.
void ProjectModule::set_metric(const std::string& metric) {
  for (const auto& [path, opened] : opened_)
    for (const std::string& handle : opened.handles) static_cast<void>(session_.show_metric(handle, metric));
}

// What the file listed and does not list any more, unless its user asked for it, too.
void ProjectModule::close_unlisted() {
  std::vector<std::string> paths;
  for (const auto& [path, opened] : opened_)
    if (opened.is_over) paths.push_back(path);
  session_.engine.scheduler().submit(
      Lane::interactive, session_.client, "project file",
      [this, &engine = session_.engine, alive = session_.alive, paths = std::move(paths),
       globs = globs_of(session_.workspace)]() mutable {
        take_out_listed(globs, paths);
        engine.post([this, alive, unlisted = std::move(paths), globs = std::move(globs)] {
          if (!*alive || session_.closed || globs != globs_of(session_.workspace)) return;
          for (const std::string& path : unlisted) close(path);
          session_.meant_changed();
        });
      });
}

void ProjectModule::close(const std::string& path) {
  const auto opened = opened_.find(path);
  if (opened == opened_.end()) return;
  const std::vector<std::string> handles = std::move(opened->second.handles);
  opened_.erase(opened);
  const auto own = [this](const std::string& handle) {
    return session_.engine.chose(session_.client, handle);
  };
  if (!handles.empty() && std::none_of(handles.begin(), handles.end(), own))
    static_cast<void>(session_.engine.close(session_.client, handles.front(), true));
}

// `**` reaches into new folders, too, so all is looked for again whenever one of them changes: by one look
// for all clients of the project, which begins after the change.
void ProjectModule::look() {
  const auto& project = session_.workspace.project();
  if (globs_of(session_.workspace).empty() || session_.closed) return;
  if (std::exchange(is_looking_, true)) {
    look_again_ = true;
    return;
  }
  std::string key = project->path;
  for (const std::string& glob : project->settings.profiles) key += '\0' + glob;
  looking_ = session_.engine.project_walks().walk(
      session_.client, {key, project->path, false},
      [globs = project->settings.profiles, root = project->root](const StopToken& stop) {
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
  for (const std::string& path : found.paths) open(path);
  session_.meant_changed();
}

void ProjectModule::open(const std::string& path) {
  if (!opened_.try_emplace(path).second) return;  // watched already, or closed by the user
  OpenRequest request;
  request.uri = uri_of_path(path);
  request.make_default = false;
  request.preferred_metric = session_.workspace.metric().value_or("");
  session_.opening.open(
      std::move(request), nullptr, std::nullopt, [](const std::function<void()>&) {},
      [this, alive = session_.alive, path, asked = n_lists_](Result<OpenAnswer> answer) {
        if (!*alive) return;
        Opened& opened = opened_[path];
        opened.is_over = true;
        if (answer)
          for (const OpenProfilePtr& profile : answer->profiles) opened.handles.push_back(profile->handle);
        else
          session_.show_message(psp::MessageType::warning, to_psp(answer.error(), path).message);
        if (asked != n_lists_) close_unlisted();
      });
}

}  // namespace

std::unique_ptr<Module> make_project_module(SessionContext& session) {
  return std::make_unique<ProjectModule>(session);
}

}  // namespace profd
