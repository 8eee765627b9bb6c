// All entries of a unit, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "native/lines/units.h"

namespace profd::native {

inline constexpr std::size_t kMaxDepth = 4096;

// while (walk.next()) { ...; walk.skip(), or read with walk.in() all values of the entry }
class EntryWalk {
 public:
  explicit EntryWalk(const Unit& unit)
      : unit_(unit), table_(unit.file->table(unit)), in_(entries(unit, unit.first_entry)) {}

  // False at the end of the unit, where it is damaged, and where entries lie deeper than kMaxDepth.
  bool next() {
    if (abbreviation_ != nullptr && abbreviation_->has_children) ++depth_;
    while (in_.more()) {
      at_ = in_.at();
      const std::uint64_t code = in_.uleb();
      if (code == 0) {
        // Ends the children of an entry; what is left behind the first entry is padding.
        if (depth_ <= 1) return false;
        --depth_;
        continue;
      }
      abbreviation_ = table_.find(code);
      return abbreviation_ != nullptr && depth_ <= kMaxDepth && !in_.failed();
    }
    return false;
  }
  void skip() { skip_values(in_, table_, *abbreviation_, unit_.shape); }

  std::uint64_t at() const { return at_; }
  std::size_t depth() const { return depth_; }  // of the entry: 0 for the first one
  bool has_children() const { return abbreviation_->has_children; }
  const Abbreviation& abbreviation() const { return *abbreviation_; }
  const AttributeSpec* specs() const { return table_.specs(*abbreviation_); }
  ByteReader& in() { return in_; }

 private:
  const Unit& unit_;
  const AbbreviationTable& table_;
  ByteReader in_;
  const Abbreviation* abbreviation_ = nullptr;
  std::uint64_t at_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace profd::native
