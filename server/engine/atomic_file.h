// AtomicFile: a file that appears under its name only when it is whole. Written beside its place, then
// renamed; given up, nothing stays behind. Several writers of one name do not disturb each other: the last
// one wins.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <sys/types.h>

#include "core/support/result.h"

namespace profd {

// Where a file that is to be written as `path` goes: there, or where the link at `path` leads. Only nothing
// and regular files are replaced; a link is followed to a regular file when this user, or root, made it.
// Anything else (a device, a pipe, a socket, a folder, a link to one of them or to nothing) is an `io` error
// that says what is there.
Result<std::string> replaceable_file(const std::string& path);

class AtomicFile {
 public:
  // `mode` as for open(2), the umask applies.
  static Result<AtomicFile> create(std::string path, mode_t mode = 0666);
  // For a file that a person names. `io` when something is there and `overwrite` is false, or when it may not
  // be replaced.
  static Result<AtomicFile> create_named(const std::string& path, bool overwrite);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;

  Result<void> write(std::span<const std::byte> bytes);
  // Gives the file its name. Nothing may be written afterwards.
  Result<void> commit();

  // Where it will be.
  const std::string& path() const { return path_; }

  // What temporary names look like, for whoever cleans up after a process that died.
  static bool is_temporary(std::string_view file_name);

 private:
  AtomicFile(int fd, std::string path, std::string temporary);
  tl::unexpected<Error> failed(const char* what) const;

  int fd_ = -1;
  std::string path_, temporary_;  // temporary_ is empty once renamed
  bool replace_ = true;
};

}  // namespace profd
