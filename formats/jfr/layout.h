// How the values of each class lie in the bytes: compiled once a chunk from its metadata.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/support/result.h"
#include "formats/jfr/metadata.h"
#include "formats/jfr/wire.h"

namespace profd::jfr {

enum class Op : std::uint8_t { integer, byte, f32, f64, text, array };

struct Step {
  Op op;
  std::uint32_t elements = 0;  // array: the class of its items, or kReference
};

inline constexpr std::uint32_t kReference = 0xFFFFFFFE;  // an item is a key of a constant pool

class Layouts {
 public:
  // Fails when a class contains itself other than through an array, or is unreasonably big.
  static Result<Layouts> compile(const Metadata& metadata);

  std::span<const Step> of(std::uint32_t cls) const { return steps_[cls]; }
  // Steps over one value of a class.
  void skip(Wire& in, std::uint32_t cls, unsigned depth = 0) const;
  void skip(Wire& in, Step step, unsigned depth) const;

 private:
  std::vector<std::vector<Step>> steps_;  // by class
};

inline constexpr std::uint8_t kNoSlot = 0xFF;
inline constexpr std::size_t kMaxSlots = 24;

// What was read of one value: by slot. Integers as they lie in the file, doubles by std::bit_cast.
struct Row {
  std::array<std::uint64_t, kMaxSlots> numbers{};
  std::array<Text, kMaxSlots> texts{};
};

// Reads chosen fields of a class.
class RowReader {
 public:
  RowReader() = default;
  // `slot_of(field)` gives the slot of each field or kNoSlot. Fields that are arrays or structures are
  // always stepped over.
  template <class SlotOf>
  RowReader(const Metadata& metadata, const Layouts& layouts, std::uint32_t cls, SlotOf slot_of) {
    const Class& type = metadata.classes()[cls];
    for (const Field& field : type.fields) {
      const std::vector<Step> steps = steps_of(metadata, layouts, field);
      const bool plain = steps.size() == 1 && steps[0].op != Op::array;
      const std::uint8_t slot = plain ? slot_of(field) : kNoSlot;
      for (const Step& step : steps) steps_.emplace_back(step, slot);
    }
  }
  // Nothing behind the last wanted field: for values whose end is known otherwise.
  void drop_tail() {
    while (!steps_.empty() && steps_.back().second == kNoSlot) steps_.pop_back();
  }
  void read(Wire& in, const Layouts& layouts, Row& row) const;

 private:
  static std::vector<Step> steps_of(const Metadata& metadata, const Layouts& layouts, const Field& field);

  std::vector<std::pair<Step, std::uint8_t>> steps_;
};

}  // namespace profd::jfr
