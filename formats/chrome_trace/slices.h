// Begin/end and complete events: which begin belongs to which end, how slices nest, and the time that each
// has for itself.
#pragma once

#include <cstdint>

#include "core/model/profile_builder.h"
#include "core/support/growing_vector.h"
#include "formats/chrome_trace/event.h"
#include "formats/reader.h"

namespace profd::chrome_trace {

enum class SliceKind : std::uint8_t { begin, end, complete };

// Struct-of-arrays, in the order of the file. An end event has no frame.
struct SliceTable {
  GrowingVector<std::int64_t> time;
  GrowingVector<std::int64_t> until;  // of complete events; of begin events once they are matched
  GrowingVector<std::uint32_t> thread;
  // What an end event must agree with; kNone: it has no name. Of begin events once they are matched, kNone:
  // no end was found.
  GrowingVector<std::uint32_t> name;
  GrowingVector<FrameId> frame;
  GrowingVector<LabelSetId> labels;
  GrowingVector<SliceKind> kind;

  std::size_t size() const { return time.size(); }
  void clear();
};

// Adds the self time of every slice and a span for it to `builder`, whose metrics are events and time, both
// integral. Sample times are relative to `origin`. Empties `table`.
Result<void> add_slices(SliceTable& table, const Threads& threads, std::int64_t origin, ReadContext& context,
                        ProfileBuilder& builder);

}  // namespace profd::chrome_trace
