// The events that carry measurements, and the profile each goes to. docs/formats/jfr.md has the table.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace profd::jfr {

enum class Family : std::uint8_t {
  cpu,
  cpu_time,
  wall,
  native,
  alloc,
  alloc_sample,
  live,
  old_objects,
  malloc,
  lock,
  park,
  wait,
  sleep,
  native_lock,
  socket_read,
  socket_write,
  file_read,
  file_write,
  exceptions,
  errors,
  method_trace,
};
inline constexpr std::size_t kNFamilies = 21;

// What a metric adds up.
enum class Measure : std::uint8_t {
  events,       // 1 an event, or its `samples` or whole `weight` where it has one
  period,       // events x the interval of sampling; only when the interval is known
  duration,     // of the event
  represented,  // bytes an allocation event stands for
  size,         // bytes of the object or block, as the event says
  held_events,  // as events, where no Free of the address follows
  held_size,    // as size, likewise
};

struct MetricPlan {
  std::string_view name, unit;
  Measure measure;
};

struct FamilyPlan {
  std::string_view profile;
  std::array<MetricPlan, 4> metrics;  // up to the first without a name
  std::uint8_t default_metric;
};

struct EventKind {
  std::string_view name;
  Family family;
};

const FamilyPlan& plan_of(Family family);
std::span<const EventKind> event_kinds();

}  // namespace profd::jfr
