// .profd.toml: what a project says about its profiles. Found upward from a workspace root (project_trust.h).
//
// docs/settings.md is its reference.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/source/path_index.h"
#include "core/support/result.h"
#include "core/view/spec.h"

namespace profd {

struct ProjectFile {
  std::string path;                   // of the file itself
  std::string root;                   // its folder; nothing that it names lies outside
  std::vector<std::string> profiles;  // absolute globs
  std::optional<std::string> metric;
  std::vector<Filter> filters;
  std::vector<std::string> mine;  // folders, packages, modules: see mine.h
  std::optional<double> threshold;
  std::optional<bool> code_lens, inlay_hints;
  std::vector<PathMapping> mappings;  // `to` absolute
  std::vector<std::string> problems;  // keys that are unknown or wrong; the rest still holds
};

// Also leaves out what leads out of its folder by a link.
Result<ProjectFile> read_project_file(const std::string& path);
// `text`: the content; `path`: where it stands, for what is relative. The file system is not looked at.
Result<ProjectFile> parse_project_file(std::string_view text, const std::string& path);

// The keys of a project file, and of one entry of `map`. docs/settings.md has them all; a test compares.
std::vector<std::string_view> project_file_keys();
std::vector<std::string_view> mapping_keys();

}  // namespace profd
