// Events that are no samples: markers with their fields, or, of events that hold nothing but numbers, a
// counter for each of them.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/jfr/recording.h"
#include "formats/jfr/stacks.h"

namespace profd::jfr {

class NoteReader {
 public:
  // `cls` is an event class of the chunk.
  NoteReader(const LoadedChunk& in, std::uint32_t cls);

  // Whether its events say when something happened: not settings and other things that hold all along.
  [[nodiscard]] bool is_note() const { return has_time_; }
  // False when the record ends inside a field. `start`: of the recording; `stacks` are those of the builder.
  Result<bool> read(Wire body, const LoadedChunk& in, std::int64_t start, StackResolver& stacks,
                    ProfileBuilder& builder);

 private:
  struct Value {
    std::string key;
    std::uint8_t slot;
    enum class Kind : std::uint8_t { pooled, text, integer, truth, fraction } kind;
    std::uint32_t cls = 0;  // its type
    FieldUnit unit = FieldUnit::none;
    CounterId counter = {};  // once it is there
  };
  std::uint8_t slot_of(const LoadedChunk& in, const Field& field);
  static std::int64_t number_of(const LoadedChunk& in, const Value& value, const Row& row);
  LabelSetId fields(const LoadedChunk& in, const Row& row, StackResolver& stacks, ProfileBuilder& builder);
  void add_points(const LoadedChunk& in, const Row& row, std::int64_t time, ThreadId thread,
                  ProfileBuilder& builder);

  std::string name_;  // without "jdk."
  std::string prefix_;
  RowReader fields_;
  std::vector<Value> values_;
  std::vector<Label> labels_;
  bool has_time_ = false, has_duration_ = false, has_thread_ = false, has_stack_ = false,
       only_numbers_ = true;
  FieldUnit duration_unit_ = FieldUnit::ticks;
};

}  // namespace profd::jfr
