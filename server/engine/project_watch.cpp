#include "server/engine/project_watch.h"

#include <exception>
#include <utility>

#include "server/engine/engine.h"
#include "server/platform/last_words.h"
#include "server/runtime/log.h"

namespace profd {

ProjectFound find_project(const std::vector<std::string>& roots) {
  ProjectFound found;
  for (const std::string& root : roots) {
    const FoundProjectFile near = find_project_file(root);
    found.problems.insert(found.problems.end(), near.problems.begin(), near.problems.end());
    found.places.insert(found.places.end(), near.places.begin(), near.places.end());
    if (near.path.empty()) continue;
    auto project = read_project_file(near.path);
    found.broken = !project;
    if (project) {
      found.problems.insert(found.problems.end(), project->problems.begin(), project->problems.end());
      found.file = std::move(*project);
    } else {
      found.problems.push_back(describe(project.error()));
    }
    break;
  }
  return found;
}

ProjectWatch::ProjectWatch(Engine& engine)
    : engine_(engine),
      looks_(
          engine.scheduler(), [&engine](UniqueFunction<void()> task) { engine.post(std::move(task)); },
          "project file") {}

void ProjectWatch::start(ClientId client, std::vector<std::string> roots,
                         std::vector<FoundProjectFile::Place> seen, Changed changed) {
  seen_ = std::move(seen);
  changed_ = std::move(changed);
  looks_.start(
      client, [roots = std::move(roots)] { return find_project(roots); },
      [this](std::optional<ProjectFound> found) { take(std::move(found)); });
  watch();
}

void ProjectWatch::stop() {
  looks_.stop();
  watches_.clear();
}

void ProjectWatch::watch() {
  try {
    std::vector<Watches::Watch> watches;
    for (const FoundProjectFile::Place& place : seen_)
      watches.push_back(engine_.watches().file(
          place.path, place.seen, [this] { looks_.look(); }, WhenGone::told));
    watches_ = std::move(watches);   // what is watched as before is not given back in between
  } catch (const std::exception&) {  // neither memory nor a thread for it: what was read holds
    const LastWords words;
    log_warning("changes of the project file are not noticed: the system has no room for watching it");
  }
}

void ProjectWatch::take(std::optional<ProjectFound> found) {
  // Without memory for a look, what is known stays, and the next change is looked at.
  if (!found || found->places == seen_) return;
  seen_ = found->places;
  watch();
  changed_(std::move(*found));
}

}  // namespace profd
