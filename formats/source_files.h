// What the file system says of paths: with source.h, the only part of formats/ that asks it
// (tests/tidy/layers.py).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/support/result.h"

namespace profd {

// False for what does not exist, cannot be looked at or has a zero byte in it.
bool is_folder(const std::string& path);
bool is_regular_file(const std::string& path);

// Nothing when the path is a regular file (or, unless `fd` is one that was opened of it, a folder) of a file
// system that keeps files. `invalid` for pipes, sockets, devices and what the kernel makes up (/proc, /sys
// and their kind), `not_found` or `io` for what cannot be looked at. Opens nothing.
Result<void> check_ordinary(const std::string& path, int fd = -1);

// Names of the regular files in a folder that are not hidden, in no order; the first `max_files` of them.
// None when the folder cannot be read.
std::vector<std::string> list_files_in(const std::string& path, std::size_t max_files);

struct FilesBelow {
  std::vector<std::string> files;
  std::vector<Error> unreadable;  // folders that cannot be listed, each with its path in `where`
};
// The same of all folders below it too, as paths relative to it with '/'. Links are not followed, hidden
// folders and those deeper than `max_depth` not entered. `io` when the folder itself cannot be read, `limit`
// beyond `max_files`.
Result<FilesBelow> list_files_below(const std::string& path, std::size_t max_depth, std::size_t max_files);

}  // namespace profd
