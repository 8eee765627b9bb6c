#include "server/cli/project_here.h"

#include <filesystem>
#include <system_error>

#include "server/engine/project_around.h"
#include "server/engine/project_watch.h"
#include "server/platform/memory.h"

namespace profd {
namespace fs = std::filesystem;

std::string project_here() {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  return error ? "" : project_around(here.string());
}

std::optional<ProjectFile> project_file_here(const Console& console) {
  const std::string project = project_here();
  if (project.empty()) return std::nullopt;
  ProjectFound found = find_project({project});
  if (!found.file)
    for (const std::string& problem : found.problems) console.note(problem);
  return std::move(found.file);
}

std::shared_ptr<const WorkspaceFiles> files_of(const std::vector<std::string>& folders) {
  return index_workspace(folders, 1, StopToken{}, half_of_the_machine() / 8);
}

ProjectSources sources_here(const std::vector<std::string>& more, const Console& console) {
  ProjectSources out;
  if (std::string project = project_here(); !project.empty()) out.folders.push_back(std::move(project));
  if (const ProjectFound found = find_project(out.folders); found.file) {
    out.workspace.mappings = found.file->settings.mappings;
    for (const PathMapping& mapping : out.workspace.mappings) out.folders.push_back(mapping.to);
  }
  for (const std::string& folder : more) {
    std::error_code unknown;
    out.folders.push_back(fs::absolute(folder, unknown).lexically_normal().string());
  }
  out.workspace.key = "here";
  out.workspace.files = files_of(out.folders);
  if (!out.workspace.files->complete || out.workspace.files->no_room)
    console.note("The project has more files than are looked at: sources of some places are not found.");
  return out;
}

}  // namespace profd
