// The clocks of a trace. Times of any clock are brought to the trace's own by the clock snapshots in it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/support/protobuf_wire.h"
#include "formats/perfetto/trace.fields.h"

namespace profd::perfetto {

using ClockKey = std::uint64_t;
inline constexpr std::uint32_t kRealtime = 1, kMonotonic = 3, kBoottime = 6;

// Clocks 64 to 127 belong to one packet sequence.
inline ClockKey clock_key(std::uint32_t clock, std::uint32_t sequence) {
  return clock >= 64 && clock < 128 ? std::uint64_t{sequence} << 32 | clock : clock;
}

class Clocks {
 public:
  // All snapshots first, in the order of the file.
  void add_snapshot(protobuf::Cursor snapshot, std::uint32_t sequence);

  // In file order: what a packet's timestamp means, in nanoseconds of its clock. Incremental clocks count
  // on from the packet before.
  std::int64_t resolve(std::uint64_t timestamp, ClockKey clock);
  // In file order: sets where incremental clocks stand.
  void begin_from(protobuf::Cursor snapshot, std::uint32_t sequence);

  // Nanoseconds of the trace's clock; nothing when no snapshot ties the two.
  std::optional<std::int64_t> to_trace(ClockKey clock, std::int64_t ns);
  // Nanoseconds since the Unix epoch, UTC.
  std::optional<std::int64_t> to_realtime(std::int64_t trace_ns) const;

 private:
  struct Reading {
    ClockKey clock;
    std::int64_t ns;
  };
  struct Tie {
    std::int64_t ns, offset;  // add offset from ns on
  };
  struct Kind {
    bool incremental = false;
    std::int64_t multiplier = 1, now = 0;
  };

  std::vector<std::vector<Reading>> snapshots_;
  std::unordered_map<ClockKey, Kind> kinds_;
  std::unordered_map<ClockKey, std::vector<Tie>> ties_;
  std::optional<std::uint32_t> primary_;
};

}  // namespace profd::perfetto
