#include "formats/jfr/events.h"

#include <algorithm>

#include "core/support/checked.h"
#include "core/support/id.h"

namespace profd::jfr {
namespace {

bool is_any(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::int64_t length_ns(const Chunk& chunk, std::uint64_t value, FieldUnit unit) {
  const auto number = static_cast<std::int64_t>(value);
  if (number <= 0) return 0;
  std::int64_t scale = 1, ns = 0;
  switch (unit) {
    case FieldUnit::ticks:
      return chunk.span_ns(value);
    case FieldUnit::seconds:
      scale = 1'000'000'000;
      break;
    case FieldUnit::milliseconds:
      scale = 1'000'000;
      break;
    case FieldUnit::microseconds:
      scale = 1000;
      break;
    case FieldUnit::nanoseconds:
    case FieldUnit::none:
      break;
  }
  return mul_overflows(number, scale, ns) ? INT64_MAX : ns;
}

EventReader::EventReader(const LoadedChunk& in, std::uint32_t cls) : name_(in.metadata.classes()[cls].name) {
  fields_ = RowReader(in.metadata, in.layouts, cls, [&](const Field& field) { return slot_of(in, field); });
  fields_.drop_tail();
}

std::uint8_t EventReader::take(std::uint8_t wanted, const Field& field) {
  if (has(wanted)) return kNoSlot;
  has_ |= 1u << wanted;
  if (wanted == slot::duration) duration_unit_ = field.unit;
  if (wanted == slot::period) period_unit_ = field.unit;
  return wanted;
}

std::uint8_t EventReader::slot_of(const LoadedChunk& in, const Field& field) {
  const std::uint32_t type = in.metadata.index_of(field.type);
  const std::string_view type_name = type == kNone ? std::string_view() : in.metadata.classes()[type].name;
  const std::string_view name = field.name;
  const bool number = !field.pooled && is_any(type_name, {"long", "int", "short", "byte", "boolean"});
  if (number) {
    if (name == "startTime") return take(slot::time, field);
    if (name == "duration") return take(slot::duration, field);
    if (name == "samples" || name == "lostSamples") return take(slot::samples, field);
    if (name == "weight") return take(slot::weight, field);
    if (name == "tlabSize") return take(slot::tlab, field);
    if (name == "samplingPeriod") return take(slot::period, field);
    if (is_any(name, {"size", "allocationSize", "bytesRead", "bytesWritten", "objectSize"}))
      return take(slot::size, field);
    if (name == "address" && (name_ == "profiler.Malloc" || name_ == "profiler.Free"))
      return take(slot::address, field);
  }
  if (name == "weight" && is_any(type_name, {"float", "double"}) && !field.pooled) {
    weight_is_float_ = true;
    return take(slot::weight, field);
  }
  if (field.pooled && type_name == "jdk.types.StackTrace") return take(slot::stack, field);
  if (field.pooled && type_name == "java.lang.Thread" && is_any(name, {"sampledThread", "eventThread"})) {
    if (const std::uint8_t taken = take(slot::thread, field); taken != kNoSlot) return taken;
  }

  LabelField label{field.name, static_cast<std::uint8_t>(slot::first_label + labels_.size()),
                   LabelField::Kind::number, type};
  if (label.slot >= kMaxSlots) return kNoSlot;
  if (is_any(name, {"objectClass", "monitorClass", "parkedClass", "thrownClass"})) label.key = "class";
  if (field.pooled) {
    const bool texts =
        type != kNone && (is_any(type_name, {"java.lang.Class", "java.lang.Thread"}) ||
                          (!in.layouts.of(type).empty() && in.layouts.of(type)[0].op == Op::text));
    if (!texts) return kNoSlot;
    label.kind = LabelField::Kind::pooled;
  } else if (type_name == "java.lang.String") {
    label.kind = LabelField::Kind::text;
  } else if (!number ||
             !is_any(name, {"spanId", "localRootSpanId", "rootSpanId", "contextId", "port", "arrayElements",
                            "failed", "biased", "timedOut", "address", "reentrant"})) {
    return kNoSlot;
  }
  labels_.push_back(label);
  return label.slot;
}

std::int64_t EventReader::duration_ns(const Chunk& chunk, const Row& row) const {
  return length_ns(chunk, row.numbers[slot::duration], duration_unit_);
}

std::int64_t EventReader::period_ns(const Chunk& chunk, const Row& row) const {
  return length_ns(chunk, row.numbers[slot::period], period_unit_);
}

}  // namespace profd::jfr
