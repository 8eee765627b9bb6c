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
  std::optional<double> threshold;
  std::optional<bool> code_lens, inlay_hints;
  std::vector<PathMapping> mappings;  // `to` absolute
  std::vector<std::string> problems;  // keys that are unknown or wrong; the rest still holds
};

// Also leaves out what leads out of its folder by a link.
Result<ProjectFile> read_project_file(const std::string& path);
// `text`: the content; `path`: where it stands, for what is relative. The file system is not looked at.
Result<ProjectFile> parse_project_file(std::string_view text, const std::string& path);

// `*` within a component, `**` across components, `?` one character. No backtracking beyond the last star.
bool glob_matches(std::string_view glob, std::string_view path);
// The folders whose entries decide what a glob matches: with a wildcard in the name alone one, else every
// folder below the first wildcard; where that one is missing, the nearest above it that is there. At most
// `limit`.
std::vector<std::string> glob_folders(const std::string& glob, std::size_t limit);

// The files that globs match.
struct GlobMatches {
  std::vector<std::string> paths;  // those named without a wildcard first, then newest first; each once
  std::size_t n_left_out = 0;      // further ones, beyond the limit
  bool complete = true;            // false: a walk ended at its own limits, and there may be more
};
GlobMatches expand_globs(const std::vector<std::string>& globs, std::size_t limit);

// The keys of a project file, and of one entry of `map`. docs/settings.md has them all; a test compares.
std::vector<std::string_view> project_file_keys();
std::vector<std::string_view> mapping_keys();

}  // namespace profd
