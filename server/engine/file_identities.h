// Files that a recording tells by their inodes, having no build id of them: evidence that a file here is what
// ran, where it is the same file and was not changed since.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/model/profile.h"
#include "core/support/file_identity.h"

namespace profd {

struct FileIdentities {
  std::map<std::string, FileIdentity, std::less<>> by_name;  // paths as the profile has them
  // When the recording began at the earliest, since the Unix epoch; 0 not known: then there is no evidence.
  std::int64_t recorded_ns = 0;
};

// Adds those of a profile.
void add_identities(const Profile& profile, FileIdentities& to);

// When a file was begun, as far as its file system says; 0 not known. A copy of a recording is begun later
// than it.
std::int64_t begun_ns(const std::string& path);

// Why an open file is not the one that was recorded, as the rest of a sentence; "" it is.
std::string why_another(int fd, const FileIdentity& recorded, std::int64_t recorded_ns);

}  // namespace profd
