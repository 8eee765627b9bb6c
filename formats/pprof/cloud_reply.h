// Replies of the Cloud Profiler API: JSON around gzipped profiles in base64.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "formats/reader.h"

namespace profd::pprof {

// One profile of a reply. `source` owns its bytes.
struct CloudProfile {
  ByteSource source;
  std::string type;                                             // "CPU"; empty when it does not say
  std::vector<std::pair<std::string, std::string>> properties;  // target, project and labels
};

// Does a file that begins like this hold `profileBytes`? No allocation.
bool is_cloud_reply(std::span<const std::byte> prefix);
// All profiles, in order. Errors: malformed JSON or base64, gzip's own, limits of `context`.
Result<std::vector<CloudProfile>> read_cloud_reply(const ByteSource& source, ReadContext& context);

}  // namespace profd::pprof
