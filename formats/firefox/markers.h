// Markers of a thread: what Firefox noted, with its fields. Both kinds of files write the same rows.
#pragma once

#include <cstdint>
#include <optional>

#include "core/model/profile_builder.h"
#include "formats/firefox/columns.h"
#include "formats/support/json_fields.h"

namespace profd::firefox {

// Counted over all threads of a file.
struct MarkerLosses {
  std::uint64_t n_unmatched_ends = 0, n_stacks = 0, n_without_time = 0;
};

enum class MarkerPhase : std::uint8_t { instant, interval, start, end };

// What stands in a marker's data, and what of that is no field.
struct MarkerData {
  LabelSetId fields{0u};
  std::uint32_t stack = kNone;                  // the cause, by index into the thread's stacks
  std::int64_t start = kNoTime, end = kNoTime;  // of old files, which have one column of times
  std::optional<MarkerPhase> phase;             // of old files, where "interval" says it
};

// At the value of a marker's data, whatever it is.
MarkerData read_marker_data(JsonCursor& in, JsonFields& fields, ProfileBuilder& builder,
                            MarkerLosses& losses);

class Markers {
 public:
  // Without a `phase` (kNone) `data` tells it. Times kNoTime where the file has none.
  void add(StringId name, StringId category, std::int64_t start, std::int64_t end, std::uint32_t phase,
           const MarkerData& data);
  // Pairs starts with ends and adds all. `contexts`: by stack; `offset` is added to every time.
  void add_to(ProfileBuilder& builder, ThreadId thread, const Indices& contexts, std::int64_t offset,
              MarkerLosses& losses) const;
  bool empty() const { return rows_.empty(); }

 private:
  struct Row {
    StringId name, category;
    std::int64_t start, end;
    std::uint32_t fields, stack;
    MarkerPhase phase;
  };
  GrowingVector<Row> rows_;
};

}  // namespace profd::firefox
