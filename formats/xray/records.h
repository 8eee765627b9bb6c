// The records of a log of XRay, of basic and of flight data recorder mode.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/reader.h"

namespace profd::xray {

inline constexpr std::size_t kHeaderBytes = 32;

struct Header {
  std::uint16_t version = 0, type = 0;  // type 0: basic, 1: flight data recorder
  std::uint64_t frequency = 0;          // ticks in a second; 0: not known
  std::uint64_t buffer_bytes = 0;       // of version 1 of the flight data recorder
};

struct Thread {
  std::int64_t pid = -1, tid = -1;
};

struct Event {
  std::uint64_t ticks = 0;
  std::uint32_t function = 0, thread = 0;  // a row of `threads`
  bool enters = false;
};

// Events of one thread in their order, or of all threads, each in its order.
struct Block {
  std::uint64_t ticks = 0;  // when it begins
  std::size_t begin = 0, end = 0;
};

struct Log {
  Header header;
  std::vector<Thread> threads;
  std::vector<Event> events;
  std::vector<Block> blocks;            // by when they begin
  std::optional<std::int64_t> time_ns;  // since 1970, of the first block that says it
  std::uint64_t n_custom = 0;           // events of the program's own, which are not read
};

bool is_xray_log(std::span<const std::byte> bytes);
// What an incomplete file has, with `context.partial`.
Result<Log> read_log(std::span<const std::byte> bytes, ReadContext& context);

}  // namespace profd::xray
