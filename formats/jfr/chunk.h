// The chunks a recording is made of, and the records in a chunk.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/support/result.h"
#include "formats/jfr/wire.h"

namespace profd::jfr {

inline constexpr std::size_t kHeaderBytes = 68;

struct Chunk {
  std::span<const std::byte> bytes;  // with its header
  std::uint64_t at = 0;              // of its first byte in the file
  std::uint16_t major = 0, minor = 0;
  std::int64_t start_ns = 0, duration_ns = 0;  // since the Unix epoch
  std::int64_t start_ticks = 0, ticks_per_second = 0;
  bool complete = false;  // false: still being written when the file was taken, or cut off

  // Found by find_records(), as offsets from the first byte of the chunk.
  std::size_t metadata = 0;                // 0: none
  std::vector<std::size_t> checkpoints;    // ascending
  std::size_t records_end = kHeaderBytes;  // behind the last whole record

  // Ticks as nanoseconds since the Unix epoch; clamped to 64 bits.
  std::int64_t time_ns(std::uint64_t ticks) const;
  // A length of time in ticks as nanoseconds.
  std::int64_t span_ns(std::uint64_t ticks) const;
};

// The header at `at` of the file. Versions that are not read and headers that make no sense are errors; a
// chunk that goes beyond the file is not complete.
Result<Chunk> read_chunk(std::span<const std::byte> file, std::uint64_t at);

// Steps over all records. An incomplete chunk ends at its last whole record.
Result<void> find_records(Chunk& chunk);

// One record: `body` stands behind the type.
struct Record {
  std::uint64_t type = 0;
  std::size_t at = 0, end = 0;  // in the chunk
  Wire body;
};
// The record at `at`, or false when no whole one stands there.
bool read_record(const Chunk& chunk, std::size_t at, Record& record);

}  // namespace profd::jfr
