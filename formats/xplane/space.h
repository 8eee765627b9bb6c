// XSpace as its planes lie in the file: names looked up, events still encoded.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/support/protobuf_wire.h"
#include "formats/reader.h"

namespace profd::xplane {

struct Event {
  std::int64_t metadata = 0, offset_ps = 0, duration_ps = 0;
  std::int64_t n_occurrences = 0;  // where it stands for several and has no time
  bool has_stats = false;
};

struct Line {
  std::int64_t id = 0, timestamp_ns = 0;
  std::string_view name;
  std::vector<protobuf::Cursor> events;
};

struct Plane {
  std::string_view name;
  std::vector<Line> lines;
  std::unordered_map<std::int64_t, std::string_view> event_names;
};

struct Space {
  std::vector<Plane> planes;
  std::int64_t start_ns = 0, stop_ns = 0;  // since the epoch; 0: not said
};

// A plane that the file ends in is left out when the context asks for what there is.
Result<Space> read_space(const ByteSource& source, ReadContext& context);
// `source` is what the event lies in.
Result<Event> read_event(protobuf::Cursor event, const ByteSource& source);

// "/host:CPU", "/device:GPU:0": planes that no other protocol buffer has.
Confidence sniff_space(std::span<const std::byte> prefix);

}  // namespace profd::xplane
