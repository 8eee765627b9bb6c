// What a project file is trusted with. It comes with a repository that somebody else may have written, and is
// read without asking: so it is taken only from where nobody else on this machine can put one, and what it
// names lies below its own folder.
//
// Pure functions over the file system as it is: any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "server/platform/file_watcher.h"

namespace profd {

struct FoundProjectFile {
  // Where one is, or might come to be, and what was there before it was looked for: FileStamp{} nothing.
  struct Place {
    std::string path;
    FileStamp seen;
    bool operator==(const Place&) const = default;
  };
  std::string path;                   // "" none that is taken
  std::vector<std::string> problems;  // those that are there and not taken, with the reason
  std::vector<Place> places;          // the nearest first
};
// The nearest .profd.toml in `folder` or above, at most 64 levels. Looks only into folders that belong to
// this user or to root and that others cannot write to, from `folder` upward up to the first that is not so.
FoundProjectFile find_project_file(std::string_view folder);

// The content, when what is open is still a regular file of this user or root, not writable by others, and
// inside its folder when it is reached by a link.
Result<std::string> read_project_text(const std::string& path, std::size_t max_bytes);

// Why others than this user and root decide what is in a folder, as the rest of a sentence ("belongs to user
// 7"); nothing when they do not, or there is none.
std::optional<std::string> why_open_to_others(const std::string& folder);

// That it leads out of its project's folder, in words.
std::string outside_text(std::string_view what, std::string_view advice);

// By its text alone: `path` is `root` or below it once "." and ".." are resolved.
bool lies_inside(const std::string& root, const std::string& path);
// With every link followed, as far as the path is there.
bool really_inside(const std::string& root, const std::string& path);

// Takes out of `paths` what is really outside of `root` or no regular file, and gives those.
std::vector<std::string> take_out_outside(const std::string& root, std::vector<std::string>& paths);

}  // namespace profd
