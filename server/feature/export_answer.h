// A profile in another format: into the answer, within a bound, or into a file.
#pragma once

#include <cstdint>
#include <string>

#include "core/support/stop.h"
#include "formats/writer.h"
#include "server/engine/open_profile.h"

namespace profd {

struct ExportRequest {
  const FormatWriter* writer = nullptr;
  WriteOptions how;  // metric and view; the rest is the profile's
  std::string path;  // of the file; "" into the answer
  bool overwrite = false;
};
struct ExportAnswer {
  std::string content;     // any bytes; of the answer
  std::string path;        // of the file that was written: a link of the user's own is followed
  std::uint64_t size = 0;  // in bytes
  LossReport losses;
};

// `limit`: more than fits an answer.
Result<ExportAnswer> export_profile(const OpenProfile& open, const ExportRequest& request,
                                    const StopToken& stop);

}  // namespace profd
