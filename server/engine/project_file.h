// .profd.toml: what a project says about its profiles. Found upward from a workspace root.
//
//   profiles = ["*.pprof", "bench/**/*.pb.gz"]    # loaded and watched, relative to this file
//   metric = "cpu"                                # the default one
//   filters = ["hide module libc.so.6"]           # as in a view's text form
//   threshold = 0.005                             # share below which a line gets no hint
//   code_lens = true
//   inlay_hints = true
//   [[map]]
//   from = "/build/x"                             # prefix of paths in profiles
//   to = "src"                                    # relative to this file, or absolute
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
  std::vector<std::string> profiles;  // absolute globs
  std::optional<std::string> metric;
  std::vector<Filter> filters;
  std::optional<double> threshold;
  std::optional<bool> code_lens, inlay_hints;
  std::vector<PathMapping> mappings;  // `to` absolute
  std::vector<std::string> problems;  // keys that are unknown or wrong; the rest still holds
};

// The nearest .profd.toml in `folder` or above, at most 64 levels; "" when there is none.
std::string find_project_file(std::string_view folder);
Result<ProjectFile> read_project_file(const std::string& path);
// `text`: the content; `path`: where it stands, for what is relative.
Result<ProjectFile> parse_project_file(std::string_view text, const std::string& path);

// `*` within a component, `**` across components, `?` one character. No backtracking beyond the last star.
bool glob_matches(std::string_view glob, std::string_view path);
// The files that match, newest first, at most `limit`. Looks at no more than 100,000 entries.
// The folders whose entries decide what a glob matches: with a wildcard in the name alone one, else every
// folder below the first wildcard; where that one is missing, the nearest above it that is there. At most
// `limit`.
std::vector<std::string> glob_folders(const std::string& glob, std::size_t limit);
std::vector<std::string> expand_glob(const std::string& glob, std::size_t limit);

}  // namespace profd
