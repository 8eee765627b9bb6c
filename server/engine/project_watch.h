// The project file of a workspace, and that it stays what is on disk: edited, replaced, removed, made new, at
// its place or at a nearer one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/engine/look_again.h"
#include "server/engine/project_file.h"
#include "server/engine/project_trust.h"
#include "server/engine/watches.h"
#include "server/runtime/scheduler.h"

namespace profd {

class Engine;

// What the roots of a workspace say of the project.
struct ProjectFound {
  std::optional<ProjectFile> file;
  std::vector<std::string> problems;
  bool broken = false;                          // there is one, and it cannot be read
  std::vector<FoundProjectFile::Place> places;  // that were looked at
};
// The nearest project file of the first root that has one. On a worker.
ProjectFound find_project(const std::vector<std::string>& roots);

// Looks again, on a worker, whenever a place of project files is another than it was. Belongs to the strand.
class ProjectWatch {
 public:
  using Changed = std::function<void(ProjectFound)>;

  explicit ProjectWatch(Engine& engine);
  ~ProjectWatch() { stop(); }
  ProjectWatch(const ProjectWatch&) = delete;
  ProjectWatch& operator=(const ProjectWatch&) = delete;

  // `seen`: the places that find_project() looked at for these roots. `changed` is told what it found since.
  void start(ClientId client, std::vector<std::string> roots, std::vector<FoundProjectFile::Place> seen,
             Changed changed);
  // Nothing is told any more. To be called before the engine goes.
  void stop();

 private:
  void watch();
  void take(std::optional<ProjectFound> found);

  Engine& engine_;
  std::vector<FoundProjectFile::Place> seen_;
  Changed changed_;
  std::vector<Watches::Watch> watches_;
  LookAgain<ProjectFound> looks_;
};

}  // namespace profd
