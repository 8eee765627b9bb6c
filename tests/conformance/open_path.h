// A file or folder opened as the daemon does, with what stands beside it.
#pragma once

#include "formats/open.h"

namespace profd::test {

inline Result<OpenedFile> open_path(const std::string& path, const OpenOptions& options = {}) {
  SerialExecutor executor;
  PROFD_TRY(const OpenInput input, open_input(path, options.limits.input_bytes));
  return open_profiles(input, options, executor, {});
}

}  // namespace profd::test
