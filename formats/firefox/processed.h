// Processed profiles: what profiler.firefox.com saves, and what samply and other importers write.
#pragma once

#include "formats/firefox/meta.h"
#include "formats/firefox/recording.h"

namespace profd::firefox {

// Offsets of the top level's members.
struct Outline {
  std::optional<std::uint64_t> meta, libs, shared, threads, processes, profile, counters;
  std::uint32_t depth = 1;  // of these members
};

// `text` stands in `source`.
Result<void> read_processed(const ByteSource& source, const JsonCursor& text, const Outline& outline,
                            const Meta& meta, ReadContext& context, Recording& recording);

}  // namespace profd::firefox
