// What a recording says about itself: host, command, names of events, build ids. The same bytes stand in the
// sections of a file and in the HEADER_FEATURE records of a pipe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"
#include "formats/perf_data/attr.h"
#include "formats/perf_data/tracepoints.h"
#include "formats/support/byte_cursor.h"

namespace profd::perf_data {

struct EventDescription {
  std::string name;
  std::vector<std::uint64_t> ids;
};

// The wall clock at a moment of the recording's clock, both in nanoseconds.
struct ClockReference {
  std::uint64_t wall = 0, recording = 0;
};

struct Features {
  std::vector<std::pair<std::string, std::string>> properties;
  std::string version;
  std::string arch;
  std::vector<EventDescription> events;
  std::map<std::string, std::string, std::less<>> build_ids;  // by file name; lower-case hex
  std::optional<ClockReference> clock;
  TracepointFormats tracepoints;
};

// False when the bytes do not fit the feature; what was read before stays.
bool read_feature(unsigned bit, ByteCursor in, Features& out);
// HEADER_BUILD_ID: the record, and the entries of the feature.
bool read_build_id(ByteCursor in, std::uint16_t misc, Features& out);

// Lower-case hex without the zeros that pad a short id.
std::string build_id_text(std::span<const std::byte> id);

}  // namespace profd::perf_data
