// A recording opened for reading: every chunk with its metadata and pools, and what it says about itself.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/jfr/chunk.h"
#include "formats/jfr/layout.h"
#include "formats/jfr/metadata.h"
#include "formats/jfr/pools.h"
#include "formats/reader.h"

namespace profd::jfr {

// jdk.ActiveSetting of one chunk; those of the chunk before where it has none.
struct Settings {
  std::map<std::pair<std::string, std::string>, std::string> by_event;  // {"jdk.ExecutionSample", "period"}
  std::map<std::string, std::string> by_name;  // async-profiler's own: "event", "interval", "wall", "version"
};

struct LoadedChunk {
  Chunk chunk;
  Metadata metadata;
  Layouts layouts;
  Pools pools;
  Settings settings;
};

struct Recording {
  std::vector<std::unique_ptr<LoadedChunk>> chunks;
  std::map<std::string, std::string> machine;  // fields of jdk.JVMInformation that are strings or numbers
};

// All chunks. A chunk that is cut off is an error unless context.partial.
Result<Recording> load_recording(const ByteSource& source, ReadContext& context);

// Nanoseconds between samples of the event, when the chunk says so.
std::optional<std::int64_t> sampling_interval(const Settings& settings, std::string_view event);
// "20 ms" as nanoseconds.
std::optional<std::int64_t> parse_timespan(std::string_view text);

}  // namespace profd::jfr
