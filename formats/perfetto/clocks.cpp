#include "formats/perfetto/clocks.h"

#include <algorithm>

namespace profd::perfetto {
namespace {

using protobuf::Cursor;
using protobuf::Field;

struct ClockReading {
  std::uint32_t clock = 0;
  std::uint64_t timestamp = 0;
  bool incremental = false;
  std::int64_t multiplier = 1;
};

ClockReading parse_clock(Cursor in) {
  ClockReading out;
  Field field;
  while (!in.done() && read_field(in, field)) {
    if (field.wire != protobuf::Wire::varint) continue;
    if (field.number == schema::clock::clock_id) out.clock = static_cast<std::uint32_t>(field.value);
    if (field.number == schema::clock::timestamp) out.timestamp = field.value;
    if (field.number == schema::clock::is_incremental) out.incremental = field.value != 0;
    if (field.number == schema::clock::unit_multiplier_ns)
      out.multiplier = static_cast<std::int64_t>(std::min<std::uint64_t>(field.value, 1000000000));
  }
  return out;
}

// Times are unsigned in the file; what does not fit is clamped and then ties to nothing sensible.
std::int64_t scaled(std::uint64_t timestamp, std::int64_t multiplier) {
  std::int64_t out;
  const auto value = static_cast<std::int64_t>(std::min<std::uint64_t>(timestamp, INT64_MAX));
  return __builtin_mul_overflow(value, multiplier, &out) ? INT64_MAX : out;
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t out;
  if (__builtin_add_overflow(a, b, &out)) return b > 0 ? INT64_MAX : INT64_MIN;
  return out;
}

std::int64_t minus(std::int64_t a, std::int64_t b) {
  std::int64_t out;
  if (__builtin_sub_overflow(a, b, &out)) return b > 0 ? INT64_MIN : INT64_MAX;
  return out;
}

}  // namespace

void Clocks::add_snapshot(Cursor snapshot, std::uint32_t sequence) {
  std::vector<Reading> readings;
  Field field;
  while (!snapshot.done() && read_field(snapshot, field)) {
    if (field.number == schema::clock_snapshot::primary_trace_clock && field.wire == protobuf::Wire::varint &&
        !primary_)
      primary_ = static_cast<std::uint32_t>(field.value);
    if (field.number != schema::clock_snapshot::clocks || field.wire != protobuf::Wire::length ||
        readings.size() >= 128)
      continue;
    const ClockReading clock = parse_clock(field.bytes);
    const ClockKey key = clock_key(clock.clock, sequence);
    Kind& kind = kinds_[key];
    kind.incremental = clock.incremental;
    kind.multiplier = clock.multiplier;
    readings.push_back({key, scaled(clock.timestamp, clock.multiplier)});
  }
  if (!readings.empty()) snapshots_.push_back(std::move(readings));
}

void Clocks::begin_from(Cursor snapshot, std::uint32_t sequence) {
  Field field;
  while (!snapshot.done() && read_field(snapshot, field)) {
    if (field.number != schema::clock_snapshot::clocks || field.wire != protobuf::Wire::length) continue;
    const ClockReading clock = parse_clock(field.bytes);
    if (!clock.incremental) continue;
    const auto found = kinds_.find(clock_key(clock.clock, sequence));
    if (found != kinds_.end()) found->second.now = scaled(clock.timestamp, clock.multiplier);
  }
}

std::int64_t Clocks::resolve(std::uint64_t timestamp, ClockKey clock) {
  const auto found = kinds_.find(clock);
  if (found == kinds_.end()) return scaled(timestamp, 1);
  Kind& kind = found->second;
  const std::int64_t ns = scaled(timestamp, kind.multiplier);
  if (!kind.incremental) return ns;
  kind.now = plus(kind.now, ns);
  return kind.now;
}

std::optional<std::int64_t> Clocks::to_trace(ClockKey clock, std::int64_t ns) {
  const ClockKey primary = primary_.value_or(kBoottime);
  if (clock == primary) return ns;
  const auto [found, is_new] = ties_.try_emplace(clock);
  std::vector<Tie>& ties = found->second;
  if (is_new) {
    for (const std::vector<Reading>& readings : snapshots_) {
      const auto reading_of = [&](ClockKey key) {
        return std::find_if(readings.begin(), readings.end(),
                            [&](const Reading& r) { return r.clock == key; });
      };
      const auto from = reading_of(clock), to = reading_of(primary);
      if (from != readings.end() && to != readings.end()) ties.push_back({from->ns, minus(to->ns, from->ns)});
    }
    std::stable_sort(ties.begin(), ties.end(), [](const Tie& a, const Tie& b) { return a.ns < b.ns; });
  }
  if (ties.empty()) return std::nullopt;
  auto after = std::upper_bound(ties.begin(), ties.end(), ns,
                                [](std::int64_t t, const Tie& tie) { return t < tie.ns; });
  if (after != ties.begin()) --after;
  return plus(ns, after->offset);
}

std::optional<std::int64_t> Clocks::to_realtime(std::int64_t trace_ns) const {
  const ClockKey primary = primary_.value_or(kBoottime);
  for (const std::vector<Reading>& readings : snapshots_) {
    const Reading *real = nullptr, *own = nullptr;
    for (const Reading& reading : readings) {
      if (reading.clock == kRealtime) real = &reading;
      if (reading.clock == primary) own = &reading;
    }
    if (real && own) return plus(trace_ns, minus(real->ns, own->ns));
  }
  return std::nullopt;
}

}  // namespace profd::perfetto
