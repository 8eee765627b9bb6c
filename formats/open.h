// Opening: containers are peeled, every reader sniffs the same prefix, the best one reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"
#include "formats/reader.h"

namespace profd {

struct OpenOptions {
  std::string format;  // reader id; "" = sniff
  bool partial = false;
  ReadLimits limits;
};

struct FormatDecision {
  std::string format;
  bool certain = false;
  std::vector<std::string> also_plausible;
  std::vector<std::string> containers;  // outermost first: "gzip", "zip: trace.json"
};

struct OpenedFile {
  std::vector<ProfilePtr> profiles;  // at least one
  FormatDecision decision;
  ImportReport report;
};

// `bytes` may be compressed. Errors carry format, place and reason; `unsupported` lists what was tried when
// no reader claims the file.
Result<OpenedFile> open_profiles(ByteSource bytes, const OpenOptions& options, Executor& executor,
                                 StopToken stop,
                                 const std::function<void(std::uint64_t, std::uint64_t)>& progress = {});

// The one list of readers, in sniff order.
std::span<const FormatReader* const> all_readers();

}  // namespace profd
