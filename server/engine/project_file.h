// .profd.toml: what a project says about its profiles. Found upward from a workspace root (project_trust.h).
//
// docs/settings.md is its reference.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "server/engine/settings.h"

namespace profd {

struct ProjectFile {
  std::string path;  // of the file itself
  std::string root;  // its folder; nothing that it names lies outside
  Settings settings;
  std::vector<std::string> problems;  // keys that are unknown or wrong; the rest still holds
};

// Also leaves out what leads out of its folder by a link.
Result<ProjectFile> read_project_file(const std::string& path);
// `text`: the content; `path`: where it stands, for what is relative. The file system is not looked at.
Result<ProjectFile> parse_project_file(std::string_view text, const std::string& path,
                                       std::span<const Setting> settings = all_settings());

}  // namespace profd
