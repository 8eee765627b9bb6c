// What entries of .debug_info consist of: the declarations of .debug_abbrev, made for entries that are mostly
// passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/elf/bytes.h"

namespace profd::native {

// What sizes of forms depend on.
struct UnitShape {
  std::uint16_t version = 0;
  std::uint8_t address_size = 0;
  std::uint8_t offset_size = 0;  // 4 or 8
  bool operator==(const UnitShape&) const = default;
};

struct AttributeSpec {
  std::uint16_t name = 0;
  std::uint16_t form = 0;
  std::int64_t constant = 0;  // of implicit_const
};

// Passing over a value: some bytes, then one whose size stands in the entry.
enum class SkipKind : std::uint8_t { nothing, leb, text, block1, block2, block4, block_leb, indirect };
struct SkipStep {
  std::uint32_t fixed = 0;
  SkipKind kind = SkipKind::nothing;
};

struct Abbreviation {
  std::uint64_t code = 0;  // 0: none
  std::uint16_t tag = 0;
  bool has_children = false;
  std::uint32_t first = 0, count = 0;            // of the table's specs
  std::uint32_t first_step = 0, step_count = 0;  // of the table's steps
};

class AbbreviationTable {
 public:
  // Up to the end of the table, or to where it is damaged: entries of codes that follow have no declaration
  // then.
  AbbreviationTable(Bytes abbrev, bool big_endian, std::uint64_t at, UnitShape shape);
  // As above, and ends with `last_code`; for the one entry that begins a unit.
  AbbreviationTable(Bytes abbrev, bool big_endian, std::uint64_t at, UnitShape shape,
                    std::uint64_t last_code);

  const Abbreviation* find(std::uint64_t code) const {
    if (code - 1 < dense_.size()) return dense_[code - 1].code != 0 ? &dense_[code - 1] : nullptr;
    return find_sparse(code);
  }
  const AttributeSpec* specs(const Abbreviation& of) const { return specs_.data() + of.first; }
  const SkipStep* steps(const Abbreviation& of) const { return steps_.data() + of.first_step; }
  std::size_t spec_count() const { return specs_.size(); }

 private:
  const Abbreviation* find_sparse(std::uint64_t code) const;
  void add_step(std::uint32_t form, UnitShape shape, SkipStep& open);

  std::vector<Abbreviation> dense_;   // by code - 1
  std::vector<Abbreviation> sparse_;  // the others, sorted by code
  std::vector<AttributeSpec> specs_;
  std::vector<SkipStep> steps_;
};

// Bytes of a form whose size is fixed, or -1.
int fixed_size(std::uint32_t form, UnitShape shape);

}  // namespace profd::native
