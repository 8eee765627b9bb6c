// Random profiles with something in every table, and helpers to write and read native files in memory.
#pragma once

#include <string>

#include "core/model/profile.h"
#include "formats/open.h"
#include "formats/profd/profd_file.h"

namespace profd::test {

struct RandomProfile {
  unsigned seed = 1;
  std::size_t n_frames = 20, n_samples = 60;
};

ProfilePtr random_profile(const RandomProfile& options);

std::string write_to_string(const std::vector<ProfilePtr>& profiles, const ProfdWriteOptions& options = {});
// With the native reader, whatever it looks like.
Result<OpenedFile> open_native(std::string content);
Result<ProfilePtr> open_one(std::string content);

}  // namespace profd::test
