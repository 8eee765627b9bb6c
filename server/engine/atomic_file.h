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

class AtomicFile {
 public:
  // `mode` as for open(2), the umask applies.
  static Result<AtomicFile> create(std::string path, mode_t mode = 0666);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;

  Result<void> write(std::span<const std::byte> bytes);
  // Gives the file its name. Nothing may be written afterwards.
  Result<void> commit();

  // What temporary names look like, for whoever cleans up after a process that died.
  static bool is_temporary(std::string_view file_name);

 private:
  AtomicFile(int fd, std::string path, std::string temporary);
  tl::unexpected<Error> failed(const char* what) const;

  int fd_ = -1;
  std::string path_, temporary_;  // temporary_ is empty once renamed
};

}  // namespace profd
