// NewFile: a file that appears whole or not at all.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/support/result.h"
#include "server/platform/unique_fd.h"

namespace profd {

class NewFile {
 public:
  // `io` when something is at `path` and `overwrite` is false. Written beside it until finish().
  static Result<NewFile> create(const std::string& path, bool overwrite);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();  // without finish() nothing remains

  Result<void> write(std::span<const std::byte> bytes);
  Result<void> finish();

 private:
  NewFile(std::string path, std::string beside, UniqueFd fd, bool overwrite);

  std::string path_, beside_;
  UniqueFd fd_;
  bool overwrite_;
};

}  // namespace profd
