// Reading one kind of event of one chunk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/jfr/event_kinds.h"
#include "formats/jfr/recording.h"

namespace profd::jfr {

namespace slot {
enum : std::uint8_t {
  time,
  duration,
  thread,
  stack,
  samples,
  weight,
  size,
  tlab,
  address,
  period,
  first_label
};
}

// A field that says more about an event than the model has columns for.
struct LabelField {
  std::string key;
  std::uint8_t slot;
  enum class Kind : std::uint8_t { pooled, text, number } kind;
  std::uint32_t cls = 0;  // of the pool
};

// Nanoseconds of a length of time as it stands in a field; negative ones are 0.
std::int64_t length_ns(const Chunk& chunk, std::uint64_t value, FieldUnit unit);

class EventReader {
 public:
  // `cls` is an event class of the chunk.
  EventReader(const LoadedChunk& in, std::uint32_t cls);

  bool has(std::uint8_t slot) const { return (has_ & (1u << slot)) != 0; }
  bool weight_is_float() const { return weight_is_float_; }
  const std::vector<LabelField>& labels() const { return labels_; }
  const std::string& name() const { return name_; }
  // False when the record ends inside a field.
  bool read(Wire body, const LoadedChunk& in, Row& row) const {
    fields_.read(body, in.layouts, row);
    return body.ok();
  }
  // Nanoseconds; negative lengths are 0.
  std::int64_t duration_ns(const Chunk& chunk, const Row& row) const;
  std::int64_t period_ns(const Chunk& chunk, const Row& row) const;

 private:
  std::uint8_t slot_of(const LoadedChunk& in, const Field& field);
  std::uint8_t take(std::uint8_t slot, const Field& field);

  std::string name_;
  RowReader fields_;
  std::vector<LabelField> labels_;
  std::uint32_t has_ = 0;
  bool weight_is_float_ = false;
  FieldUnit duration_unit_ = FieldUnit::ticks, period_unit_ = FieldUnit::nanoseconds;
};

}  // namespace profd::jfr
