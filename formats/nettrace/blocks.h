// The blocks of a .nettrace file (versions 4 and 5), and the event blobs inside them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/support/result.h"
#include "formats/reader.h"
#include "formats/support/byte_cursor.h"

namespace profd::nettrace {

struct TraceHeader {
  std::optional<std::int64_t> start_ns;  // since the Unix epoch, UTC
  std::int64_t start_ticks = 0, ticks_per_second = 0;
  std::int32_t pointer_size = 8, process_id = -1, n_processors = 0, sampling_ns = 0;
};

// What an event belongs to, across threads; all zeros: to nothing.
using ActivityId = std::array<std::uint64_t, 2>;

// Payload is valid as long as the file's bytes are.
struct EventBlob {
  std::uint32_t metadata = 0, stack = 0;
  std::int64_t thread = 0, time = 0;  // time in ticks
  ActivityId activity{}, related{};   // `related` made `activity`
  ByteCursor payload;
};

// What a walk over the file meets, in order.
class BlockVisitor {
 public:
  virtual ~BlockVisitor() = default;
  virtual void trace(const TraceHeader& header) = 0;
  virtual Result<void> metadata(EventBlob& event) = 0;
  virtual Result<void> event(EventBlob& event) = 0;
  // Addresses, leaf first, of the pointer size of the trace.
  virtual Result<void> stack(std::uint32_t id, ByteCursor addresses) = 0;
  // Ids of stacks begin anew.
  virtual void sequence_point() = 0;
};

// Calls the visitor. A file that ends early gives what it has, and a row in the report.
Result<void> walk(std::span<const std::byte> bytes, BlockVisitor& visitor, ReadContext& context);

// UTF-16 up to a NUL, as UTF-8.
std::string read_text(ByteCursor& in);

}  // namespace profd::nettrace
