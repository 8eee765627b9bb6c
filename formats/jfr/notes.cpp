#include "formats/jfr/notes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/support/id.h"
#include "formats/jfr/events.h"

namespace profd::jfr {
namespace {

namespace note_slot {
enum : std::uint8_t { time, duration, thread, stack, first_value };
}

constexpr std::string_view kOfJava = "jdk.";

// What says how the machine is set up, when it is looked at.
bool is_setting(std::string_view name) {
  constexpr std::array<std::string_view, 14> kSettings{"jdk.ActiveSetting",
                                                       "jdk.ActiveRecording",
                                                       "jdk.JVMInformation",
                                                       "jdk.InitialSystemProperty",
                                                       "jdk.InitialEnvironmentVariable",
                                                       "jdk.InitialSecurityProperty",
                                                       "jdk.OSInformation",
                                                       "jdk.CPUInformation",
                                                       "jdk.VirtualizationInformation",
                                                       "jdk.CPUTimeStampCounter",
                                                       "jdk.NativeLibrary",
                                                       "jdk.ModuleRequire",
                                                       "jdk.ModuleExport",
                                                       "jdk.ThreadDump"};
  return std::find(kSettings.begin(), kSettings.end(), name) != kSettings.end() ||
         (name.starts_with(kOfJava) && (name.ends_with("Flag") || name.ends_with("Configuration")));
}

bool is_integer(std::string_view type) {
  return type == "long" || type == "int" || type == "short" || type == "byte";
}

// Negative numbers fill no more than their type.
std::int64_t signed_as(std::string_view type, std::uint64_t value) {
  if (type == "int") return static_cast<std::int32_t>(value);
  if (type == "short") return static_cast<std::int16_t>(value);
  return type == "byte" ? static_cast<std::int8_t>(value) : static_cast<std::int64_t>(value);
}
std::string_view unit_name_of(FieldUnit unit) {
  switch (unit) {
    case FieldUnit::ticks:
    case FieldUnit::nanoseconds:
      return "nanoseconds";
    case FieldUnit::microseconds:
      return "microseconds";
    case FieldUnit::milliseconds:
      return "milliseconds";
    case FieldUnit::seconds:
      return "seconds";
    case FieldUnit::none:
      break;
  }
  return "";
}

}  // namespace

NoteReader::NoteReader(const LoadedChunk& in, std::uint32_t cls) : name_(in.metadata.classes()[cls].name) {
  const Class& type = in.metadata.classes()[cls];
  if (!type.is_event || is_setting(type.name)) return;
  fields_ = RowReader(in.metadata, in.layouts, cls, [&](const Field& field) { return slot_of(in, field); });
  fields_.drop_tail();
  if (name_.starts_with(kOfJava)) name_.erase(0, kOfJava.size());
  const std::size_t dot = type.name.rfind('.');
  if (dot != std::string::npos) prefix_ = type.name.substr(0, dot);
  only_numbers_ = only_numbers_ && !has_duration_ && !has_stack_ && !values_.empty();
}

std::uint8_t NoteReader::slot_of(const LoadedChunk& in, const Field& field) {
  const std::uint32_t type = in.metadata.index_of(field.type);
  if (type == kNone) return kNoSlot;
  const std::string& type_name = in.metadata.classes()[type].name;
  const bool integer = !field.pooled && is_integer(type_name);
  if (integer && field.name == "startTime") {
    has_time_ = true;
    return note_slot::time;
  }
  if (integer && field.name == "duration") {
    has_duration_ = true;
    duration_unit_ = field.unit;
    return note_slot::duration;
  }
  if (field.pooled && type_name == "jdk.types.StackTrace" && !has_stack_) {
    has_stack_ = true;
    return note_slot::stack;
  }
  if (field.pooled && type_name == "java.lang.Thread" && !has_thread_ &&
      (field.name == "eventThread" || field.name == "thread")) {
    has_thread_ = true;
    return note_slot::thread;
  }
  Value value{field.name,           static_cast<std::uint8_t>(note_slot::first_value + values_.size()),
              Value::Kind::integer, type,
              field.unit,           {}};
  if (value.slot >= kMaxSlots) return kNoSlot;
  if (field.pooled) {
    const bool texts = type_name == "java.lang.Class" || type_name == "java.lang.Thread" ||
                       (!in.layouts.of(type).empty() && in.layouts.of(type)[0].op == Op::text);
    if (!texts) return kNoSlot;
    value.kind = Value::Kind::pooled;
  } else if (type_name == "java.lang.String") {
    value.kind = Value::Kind::text;
  } else if (type_name == "boolean") {
    value.kind = Value::Kind::truth;
  } else if (type_name == "float" || type_name == "double") {
    value.kind = Value::Kind::fraction;
  } else if (!integer) {
    return kNoSlot;
  }
  only_numbers_ =
      only_numbers_ && (value.kind == Value::Kind::integer || value.kind == Value::Kind::fraction);
  values_.push_back(std::move(value));
  return values_.back().slot;
}

Result<bool> NoteReader::read(Wire body, const LoadedChunk& in, std::int64_t start, StackResolver& stacks,
                              ProfileBuilder& builder) {
  Row row;
  fields_.read(body, in.layouts, row);
  if (!body.ok()) return false;
  MarkerSpec marker;
  if (__builtin_sub_overflow(in.chunk.time_ns(row.numbers[note_slot::time]), start, &marker.begin))
    marker.begin = 0;
  if (has_thread_) marker.thread = stacks.thread(row.numbers[note_slot::thread]);
  if (only_numbers_) {
    add_points(in, row, marker.begin, marker.thread, builder);
    return true;
  }
  const std::int64_t length =
      has_duration_ ? length_ns(in.chunk, row.numbers[note_slot::duration], duration_unit_) : 0;
  if (__builtin_add_overflow(marker.begin, length, &marker.end)) marker.end = kNoTime;
  if (has_stack_ && row.numbers[note_slot::stack] != 0) {
    PROFD_TRY(marker.context, stacks.context(row.numbers[note_slot::stack]));
  }
  marker.name = builder.string(name_);
  marker.category = builder.string(prefix_);
  marker.fields = fields(in, row, stacks, builder);
  builder.timeline().add_marker(marker);
  return true;
}

// Of times that ticks tell, nanoseconds.
std::int64_t NoteReader::number_of(const LoadedChunk& in, const Value& value, const Row& row) {
  const std::uint64_t number = row.numbers[value.slot];
  return value.unit == FieldUnit::ticks ? in.chunk.span_ns(number)
                                        : signed_as(in.metadata.classes()[value.cls].name, number);
}

LabelSetId NoteReader::fields(const LoadedChunk& in, const Row& row, StackResolver& stacks,
                              ProfileBuilder& builder) {
  labels_.clear();
  for (const Value& value : values_) {
    Label label{.key = builder.string(value.key)};
    switch (value.kind) {
      case Value::Kind::pooled:
        label.text = stacks.text(value.cls, row.numbers[value.slot]);
        break;
      case Value::Kind::text:
        label.text = stacks.inline_text(row.texts[value.slot]);
        break;
      case Value::Kind::truth:
        label.text = builder.string(row.numbers[value.slot] != 0 ? "true" : "false");
        break;
      case Value::Kind::fraction:
        label.text = builder.string(fmt::format("{:.6g}", std::bit_cast<double>(row.numbers[value.slot])));
        break;
      case Value::Kind::integer:
        label.is_number = true;
        label.number = number_of(in, value, row);
        // The recorder's word for what it does not know.
        if (label.number == INT64_MIN) continue;
        label.unit = builder.string(unit_name_of(value.unit));
        break;
    }
    if (label.is_number || label.text.v != 0) labels_.push_back(label);
  }
  return labels_.empty() ? LabelSetId{0u} : builder.label_set(labels_);
}

void NoteReader::add_points(const LoadedChunk& in, const Row& row, std::int64_t time, ThreadId thread,
                            ProfileBuilder& builder) {
  TimelineBuilder& out = builder.timeline();
  for (Value& value : values_) {
    const std::uint64_t number = row.numbers[value.slot];
    const double point = value.kind == Value::Kind::fraction ? std::bit_cast<double>(number)
                                                             : static_cast<double>(number_of(in, value, row));
    if (!std::isfinite(point)) continue;
    // Of threads each has its own.
    if (!value.counter.valid() || has_thread_)
      value.counter = out.counter({.name = builder.string(fmt::format("{} {}", name_, value.key)),
                                   .unit = builder.string(unit_name_of(value.unit)),
                                   .thread = thread});
    out.add_point(value.counter, time, point);
  }
}

}  // namespace profd::jfr
