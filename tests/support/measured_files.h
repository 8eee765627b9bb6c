// A profile written as text beside the files that it measured, as what is said of source files gets them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/engine/workspace_files.h"
#include "server/feature/annotate.h"
#include "tests/support/temp_folder.h"
#include "tests/support/viewed.h"

namespace profd::test {

struct MeasuredFiles {
  TempFolder folder;
  WorkspaceSnapshot workspace;
  Viewed viewed;

  // `files`: names in the workspace, and their texts.
  MeasuredFiles(std::string_view profile, const std::vector<std::pair<std::string, std::string>>& files)
      : MeasuredFiles(profile_from_text(profile), files) {}
  MeasuredFiles(ProfilePtr profile, const std::vector<std::pair<std::string, std::string>>& files)
      : viewed(std::move(profile)) {
    for (const auto& [name, text] : files) folder.file(name, text);
    workspace.key = folder.path.string();
    workspace.files = index_workspace({folder.path.string()}, 1, StopToken{}, 1 << 20);
    auto open = std::make_shared<OpenProfile>(*viewed.open);
    open->origin = file_origin(path("profile"), {});
    open->loaded = std::make_shared<LoadedProfiles>();
    viewed.open = std::move(open);
  }

  std::string path(const std::string& name) const { return (folder.path / name).string(); }
  // Of a file, with whatever costs something.
  AnnotateRequest of(const std::string& name) const {
    AnnotateRequest request;
    request.open = viewed.open;
    request.workspace = workspace;
    request.path = path(name);
    request.metric = viewed.open->metric;
    request.threshold = 0;
    return request;
  }
  // The file as somebody has it open, without a change so far.
  std::shared_ptr<Document> document(std::string_view text) const {
    return std::make_shared<Document>(text, 1);
  }
};

}  // namespace profd::test
