// Units of .debug_info and the values of their entries.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "native/lines/abbreviations.h"
#include "native/lines/dwarf.h"
#include "native/lines/sections.h"

namespace profd::native {

inline constexpr std::uint64_t kMaxRangeEntries = 1u << 22;  // of one list

struct DwarfFile;

// A value as it stands in an entry; form 0: there is none.
struct Value {
  std::uint16_t form = 0;
  std::uint64_t number = 0;  // for `string` its offset in .debug_info
  explicit operator bool() const { return form != 0; }
};

// Where a unit's parts of the sections of a package begin; offsets that the unit states count from there.
struct PackageParts {
  std::uint64_t abbrev = 0, line = 0, str_offsets = 0, rnglists = 0;
};

struct Unit {
  const DwarfFile* file = nullptr;
  const Unit* skeleton = nullptr;  // of a split unit: what has its addresses
  UnitShape shape;
  std::uint8_t type = dwarf::unit_compile;
  std::uint64_t begin = 0, first_entry = 0, end = 0;  // in .debug_info
  std::uint32_t abbreviations = 0;                    // row of the file's tables
  std::uint16_t root_tag = 0;
  std::uint16_t language = 0;

  PackageParts parts;
  std::uint64_t str_offsets_base = 0, addr_base = 0, rnglists_base = 0, ranges_base = 0;
  Value low_pc, high_pc, ranges, stmt_list;
  std::uint64_t base_address = 0;  // low_pc, or 0
  std::string_view name, folder, dwo_name;
  std::uint64_t dwo_id = 0;
};

struct DwarfFile {
  DwarfFile() = default;
  DwarfFile(const DwarfFile&) = delete;

  DwarfSections sections;
  const DwarfFile* alternate = nullptr;
  std::vector<Unit> units;  // by offset

  // Tables are made when the first entry of theirs is read, by whichever thread that is.
  struct Table {
    std::uint64_t offset = 0;
    UnitShape shape;
    mutable std::once_flag once;
    mutable std::unique_ptr<const AbbreviationTable> made;
  };
  std::deque<Table> tables;

  const AbbreviationTable& table(const Unit& unit) const;
  const Unit* unit_at(std::uint64_t offset) const;  // that holds the entry at `offset`
  ByteReader reader(Bytes of, std::uint64_t at = 0) const { return ByteReader(of, sections.big_endian, at); }
};

// Finds the units and reads what their first entries say; stops where a header is damaged.
void read_units(DwarfFile& file, DwarfKind kind);

// Entries of `unit` from `at`, which counts from the begin of .debug_info, as do the cursor's places.
inline ByteReader entries(const Unit& unit, std::uint64_t at) {
  return unit.file->reader(unit.file->sections.info.first(unit.end), at);
}

Value read_value(ByteReader& in, const AttributeSpec& spec, UnitShape shape);

// Passes over all values of an entry.
inline void skip_block(ByteReader& in, SkipKind kind, UnitShape shape);
void skip_indirect(ByteReader& in, UnitShape shape);
inline void skip_values(ByteReader& in, const AbbreviationTable& table, const Abbreviation& abbreviation,
                        UnitShape shape) {
  const SkipStep* step = table.steps(abbreviation);
  for (std::uint32_t i = 0; i < abbreviation.step_count; ++i) {
    in.skip(step[i].fixed);
    skip_block(in, step[i].kind, shape);
  }
}
inline void skip_block(ByteReader& in, SkipKind kind, UnitShape shape) {
  switch (kind) {
    case SkipKind::nothing:
      break;
    case SkipKind::leb:
      in.skip_leb();
      break;
    case SkipKind::text:
      in.text();
      break;
    case SkipKind::block1:
      in.skip(in.u8());
      break;
    case SkipKind::block2:
      in.skip(in.u16());
      break;
    case SkipKind::block4:
      in.skip(in.u32());
      break;
    case SkipKind::block_leb:
      in.skip(in.uleb());
      break;
    case SkipKind::indirect:
      skip_indirect(in, shape);
      break;
  }
}

// What values mean; nothing where they are of another kind or lead out of their section.
std::optional<std::uint64_t> address_of(const Unit& unit, Value value);
std::optional<std::uint64_t> indexed_address(const Unit& unit, std::uint64_t index);
std::string_view text_of(const Unit& unit, Value value);
std::uint64_t constant_of(Value value);

// An entry of this or another file.
struct EntryRef {
  const Unit* unit = nullptr;
  std::uint64_t at = 0;  // in the unit's .debug_info
  explicit operator bool() const { return unit != nullptr; }
};
EntryRef entry_of(const Unit& unit, Value value);

// Calls `add(begin, end)` for the non-empty ranges of an entry with these values. `ranges` goes before low
// and high, as units with ranges use low_pc as the base of those.
template <class Add>
void each_range(const Unit& unit, Value low, Value high, Value ranges, Add add);

// The ranges of a list, one after the other.
class RangeList {
 public:
  RangeList(const Unit& unit, Value ranges);
  bool next(std::uint64_t& begin, std::uint64_t& end);

 private:
  bool next_old(std::uint64_t& begin, std::uint64_t& end);
  bool next_new(std::uint64_t& begin, std::uint64_t& end);

  const Unit& unit_;
  ByteReader in_;
  std::uint64_t base_ = 0;
  std::uint64_t left_ = kMaxRangeEntries;
  bool old_ = false;  // .debug_ranges
};

template <class Add>
void each_range(const Unit& unit, Value low, Value high, Value ranges, Add add) {
  if (ranges) {
    RangeList list(unit, ranges);
    std::uint64_t begin = 0, end = 0;
    while (list.next(begin, end)) add(begin, end);
    return;
  }
  if (!low || !high) return;
  const auto begin = address_of(unit, low);
  if (!begin) return;
  const auto stated = address_of(unit, high);
  const std::uint64_t end = stated ? *stated : *begin + constant_of(high);
  if (end > *begin) add(*begin, end);
}

}  // namespace profd::native
