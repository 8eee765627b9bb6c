#include "native/lines/units.h"

#include <algorithm>

namespace profd::native {
namespace {

// Bases point behind the header of their table; these are for units that state none.
std::uint64_t header_of_offsets(UnitShape shape) {
  return shape.version < 5 ? 0 : shape.offset_size == 8 ? 16 : 8;
}
std::uint64_t header_of_ranges(UnitShape shape) {
  return shape.offset_size == 8 ? 20 : 12;
}

struct RootValues {
  Value name, folder, dwo_name, str_offsets_base, addr_base, rnglists_base, ranges_base, dwo_id, language;
};

// Returns how many declarations were read for it.
std::uint64_t read_root(Unit& unit, DwarfKind kind, std::uint64_t abbrev_at) {
  ByteReader in = entries(unit, unit.first_entry);
  const std::uint64_t code = in.uleb();
  if (code == 0) return 0;
  const AbbreviationTable table(unit.file->sections.abbrev, unit.file->sections.big_endian, abbrev_at,
                                unit.shape, code);
  const Abbreviation* abbreviation = table.find(code);
  if (abbreviation == nullptr) return table.spec_count();
  unit.root_tag = abbreviation->tag;
  RootValues root;
  for (std::uint32_t i = 0; i < abbreviation->count; ++i) {
    const AttributeSpec& spec = table.specs(*abbreviation)[i];
    const Value value = read_value(in, spec, unit.shape);
    switch (spec.name) {
      case dwarf::name:
        root.name = value;
        break;
      case dwarf::comp_dir:
        root.folder = value;
        break;
      case dwarf::language:
        root.language = value;
        break;
      case dwarf::dwo_name:
      case dwarf::gnu_dwo_name:
        root.dwo_name = value;
        break;
      case dwarf::gnu_dwo_id:
        root.dwo_id = value;
        break;
      case dwarf::str_offsets_base:
        root.str_offsets_base = value;
        break;
      case dwarf::addr_base:
      case dwarf::gnu_addr_base:
        root.addr_base = value;
        break;
      case dwarf::rnglists_base:
        root.rnglists_base = value;
        break;
      case dwarf::gnu_ranges_base:
        root.ranges_base = value;
        break;
      case dwarf::low_pc:
        unit.low_pc = value;
        break;
      case dwarf::high_pc:
        unit.high_pc = value;
        break;
      case dwarf::ranges:
        unit.ranges = value;
        break;
      case dwarf::stmt_list:
        unit.stmt_list = value;
        break;
      default:
        break;
    }
  }
  if (in.failed()) {
    unit.low_pc = unit.high_pc = unit.ranges = unit.stmt_list = {};
    return table.spec_count();
  }
  unit.str_offsets_base = root.str_offsets_base      ? root.str_offsets_base.number
                          : kind == DwarfKind::split ? header_of_offsets(unit.shape)
                                                     : 0;
  unit.rnglists_base = root.rnglists_base         ? root.rnglists_base.number
                       : kind == DwarfKind::split ? header_of_ranges(unit.shape)
                                                  : 0;
  unit.str_offsets_base += unit.parts.str_offsets;
  unit.rnglists_base += unit.parts.rnglists;
  unit.stmt_list.number += unit.parts.line;
  unit.addr_base = root.addr_base.number;
  unit.ranges_base = root.ranges_base.number;
  if (root.dwo_id) unit.dwo_id = root.dwo_id.number;
  unit.language = static_cast<std::uint16_t>(constant_of(root.language));
  unit.name = text_of(unit, root.name);
  unit.folder = text_of(unit, root.folder);
  unit.dwo_name = text_of(unit, root.dwo_name);
  unit.base_address = address_of(unit, unit.low_pc).value_or(0);
  return table.spec_count();
}

// Reads .debug_cu_index, as GNU has it (2) or the standard (5).
void find_parts(DwarfFile& file) {
  constexpr std::uint32_t kInfo = 1, kAbbrev = 3, kLine = 4, kStrOffsets = 6, kRnglists = 8;
  const Bytes index = file.sections.cu_index;
  ByteReader in = file.reader(index);
  // The version is a half word before a half word of padding, or a whole word: read so, both orders of bytes
  // are one.
  const std::uint16_t first = in.u16(), second = in.u16();
  if (first != 5 && first != 2 && second != 2) return;
  const std::uint64_t columns = in.u32(), rows = in.u32(), slots = in.u32();
  const std::uint64_t names_at = in.at() + slots * 12, offsets_at = names_at + columns * 4;
  if (in.failed() || columns > index.size() || rows > index.size() || slots > index.size()) return;
  std::vector<std::uint32_t> section(columns);
  in.seek(names_at);
  for (std::uint32_t& one : section) one = in.u32();
  in.seek(offsets_at);
  for (std::uint64_t row = 0; row < rows && !in.failed(); ++row) {
    PackageParts parts;
    std::uint64_t info = UINT64_MAX;
    for (const std::uint32_t one : section) {
      const std::uint64_t offset = in.u32();
      if (one == kInfo)
        info = offset;
      else if (one == kAbbrev)
        parts.abbrev = offset;
      else if (one == kLine)
        parts.line = offset;
      else if (one == kStrOffsets)
        parts.str_offsets = offset;
      else if (one == kRnglists && first == 5)
        parts.rnglists = offset;
    }
    const auto unit = std::lower_bound(file.units.begin(), file.units.end(), info,
                                       [](const Unit& a, std::uint64_t b) { return a.begin < b; });
    if (!in.failed() && unit != file.units.end() && unit->begin == info) unit->parts = parts;
  }
}

std::uint64_t offset_at(const Unit& unit, Bytes table, std::uint64_t base, std::uint64_t index) {
  if (index > table.size()) return UINT64_MAX;
  ByteReader in = unit.file->reader(table, base + index * unit.shape.offset_size);
  const std::uint64_t offset = in.number(unit.shape.offset_size);
  return in.failed() ? UINT64_MAX : offset;
}

std::string_view text_at(const Unit& unit, Bytes section, std::uint64_t at) {
  if (at >= section.size()) return {};
  return unit.file->reader(section, at).text();
}

}  // namespace

const AbbreviationTable& DwarfFile::table(const Unit& unit) const {
  const Table& table = tables[unit.abbreviations];
  std::call_once(table.once, [&] {
    table.made = std::make_unique<const AbbreviationTable>(sections.abbrev, sections.big_endian, table.offset,
                                                           table.shape);
  });
  return *table.made;
}

const Unit* DwarfFile::unit_at(std::uint64_t offset) const {
  auto after = std::upper_bound(units.begin(), units.end(), offset,
                                [](std::uint64_t a, const Unit& b) { return a < b.begin; });
  if (after == units.begin()) return nullptr;
  const Unit& unit = *--after;
  return offset >= unit.first_entry && offset < unit.end ? &unit : nullptr;
}

void read_units(DwarfFile& file, DwarfKind kind) {
  ByteReader in = file.reader(file.sections.info);
  std::vector<std::uint64_t> abbrevs;  // by unit
  while (in.left() > 11) {
    Unit unit;
    unit.file = &file;
    unit.begin = in.at();
    unit.shape.offset_size = 4;
    std::uint64_t length = in.u32();
    if (length == 0xffffffff) {
      length = in.u64();
      unit.shape.offset_size = 8;
    }
    if (in.failed() || length > in.left()) break;
    unit.end = in.at() + length;
    unit.shape.version = in.u16();
    std::uint64_t abbrev_at = 0;
    if (unit.shape.version >= 5) {
      unit.type = in.u8();
      unit.shape.address_size = in.u8();
      abbrev_at = in.number(unit.shape.offset_size);
      if (unit.type == dwarf::unit_skeleton || unit.type == dwarf::unit_split_compile)
        unit.dwo_id = in.u64();
      else if (unit.type == dwarf::unit_type || unit.type == dwarf::unit_split_type)
        in.skip(8u + unit.shape.offset_size);
    } else {
      abbrev_at = in.number(unit.shape.offset_size);
      unit.shape.address_size = in.u8();
    }
    unit.first_entry = in.at();
    const bool known = unit.shape.version >= 2 && unit.shape.version <= 5 &&
                       (unit.shape.address_size == 4 || unit.shape.address_size == 8);
    if (in.failed() || unit.first_entry > unit.end) break;
    if (known) {
      file.units.push_back(unit);
      abbrevs.push_back(abbrev_at);
    }
    in.seek(unit.end);
  }

  if (!file.sections.cu_index.empty()) find_parts(file);
  for (std::size_t i = 0; i < file.units.size(); ++i) abbrevs[i] += file.units[i].parts.abbrev;

  // The first entry's declaration stands near the begin of a table. That many units share one whose first
  // entry stands at its end is made up: reading it for each would take the product of both.
  std::uint64_t left = 16 * std::uint64_t{file.sections.abbrev.size()} + (1u << 20);
  for (std::size_t i = 0; i < file.units.size(); ++i) {
    Unit& unit = file.units[i];
    if (file.tables.empty() || file.tables.back().offset != abbrevs[i] ||
        file.tables.back().shape != unit.shape) {
      DwarfFile::Table& table = file.tables.emplace_back();
      table.offset = abbrevs[i];
      table.shape = unit.shape;
    }
    unit.abbreviations = static_cast<std::uint32_t>(file.tables.size() - 1);
    const std::uint64_t read = read_root(unit, kind, abbrevs[i]);
    if (read > left) {
      file.units.resize(i);
      break;
    }
    left -= read;
  }
}

Value read_value(ByteReader& in, const AttributeSpec& spec, UnitShape shape) {
  std::uint16_t form = spec.form;
  if (form == dwarf::indirect) {
    const std::uint64_t stated = in.uleb();
    form = stated <= 0xffff ? static_cast<std::uint16_t>(stated) : 0;
    if (form == dwarf::indirect || form == dwarf::implicit_const) form = 0;
  }
  switch (form) {
    case dwarf::data1:
    case dwarf::ref1:
    case dwarf::flag:
    case dwarf::strx1:
    case dwarf::addrx1:
      return {form, in.u8()};
    case dwarf::data2:
    case dwarf::ref2:
    case dwarf::strx2:
    case dwarf::addrx2:
      return {form, in.u16()};
    case dwarf::strx3:
    case dwarf::addrx3:
      return {form, in.u24()};
    case dwarf::data4:
    case dwarf::ref4:
    case dwarf::ref_sup4:
    case dwarf::strx4:
    case dwarf::addrx4:
      return {form, in.u32()};
    case dwarf::data8:
    case dwarf::ref8:
    case dwarf::ref_sig8:
    case dwarf::ref_sup8:
      return {form, in.u64()};
    case dwarf::data16:
      in.skip(16);
      return {form, 0};
    case dwarf::flag_present:
      return {form, 1};
    case dwarf::implicit_const:
      return {form, static_cast<std::uint64_t>(spec.constant)};
    case dwarf::addr:
      return {form, in.number(shape.address_size)};
    case dwarf::sec_offset:
    case dwarf::strp:
    case dwarf::line_strp:
    case dwarf::strp_sup:
    case dwarf::gnu_ref_alt:
    case dwarf::gnu_strp_alt:
      return {form, in.number(shape.offset_size)};
    case dwarf::ref_addr:
      return {form, in.number(shape.version <= 2 ? shape.address_size : shape.offset_size)};
    case dwarf::udata:
    case dwarf::ref_udata:
    case dwarf::strx:
    case dwarf::addrx:
    case dwarf::loclistx:
    case dwarf::rnglistx:
    case dwarf::gnu_addr_index:
    case dwarf::gnu_str_index:
      return {form, in.uleb()};
    case dwarf::sdata:
      return {form, static_cast<std::uint64_t>(in.sleb())};
    case dwarf::string: {
      const std::uint64_t at = in.at();
      in.text();
      return {form, at};
    }
    case dwarf::block1:
      skip_block(in, SkipKind::block1, shape);
      return {form, 0};
    case dwarf::block2:
      skip_block(in, SkipKind::block2, shape);
      return {form, 0};
    case dwarf::block4:
      skip_block(in, SkipKind::block4, shape);
      return {form, 0};
    case dwarf::block:
    case dwarf::exprloc:
      skip_block(in, SkipKind::block_leb, shape);
      return {form, 0};
    default:
      in.skip(in.left() + 1);
      return {};  // the cursor fails: nobody knows how long this is
  }
}

void skip_indirect(ByteReader& in, UnitShape shape) {
  read_value(in, {0, dwarf::indirect, 0}, shape);
}

std::optional<std::uint64_t> indexed_address(const Unit& unit, std::uint64_t index) {
  const Unit& owner = unit.skeleton != nullptr ? *unit.skeleton : unit;
  const Bytes table = owner.file->sections.addr;
  if (index > table.size()) return std::nullopt;
  ByteReader in = owner.file->reader(table, owner.addr_base + index * unit.shape.address_size);
  const std::uint64_t address = in.number(unit.shape.address_size);
  if (in.failed()) return std::nullopt;
  return address;
}

std::optional<std::uint64_t> address_of(const Unit& unit, Value value) {
  switch (value.form) {
    case dwarf::addr:
      return value.number;
    case dwarf::addrx:
    case dwarf::addrx1:
    case dwarf::addrx2:
    case dwarf::addrx3:
    case dwarf::addrx4:
    case dwarf::gnu_addr_index:
      return indexed_address(unit, value.number);
    default:
      return std::nullopt;
  }
}

std::string_view text_of(const Unit& unit, Value value) {
  const DwarfSections& sections = unit.file->sections;
  switch (value.form) {
    case dwarf::string:
      return text_at(unit, sections.info, value.number);
    case dwarf::strp:
      return text_at(unit, sections.str, value.number);
    case dwarf::line_strp:
      return text_at(unit, sections.line_str, value.number);
    case dwarf::strx:
    case dwarf::strx1:
    case dwarf::strx2:
    case dwarf::strx3:
    case dwarf::strx4:
    case dwarf::gnu_str_index:
      return text_at(unit, sections.str,
                     offset_at(unit, sections.str_offsets, unit.str_offsets_base, value.number));
    case dwarf::strp_sup:
    case dwarf::gnu_strp_alt:
      return unit.file->alternate == nullptr
                 ? std::string_view()
                 : text_at(unit, unit.file->alternate->sections.str, value.number);
    default:
      return {};
  }
}

std::uint64_t constant_of(Value value) {
  switch (value.form) {
    case dwarf::data1:
    case dwarf::data2:
    case dwarf::data4:
    case dwarf::data8:
    case dwarf::udata:
    case dwarf::sdata:
    case dwarf::implicit_const:
      return value.number;
    default:
      return 0;
  }
}

EntryRef entry_of(const Unit& unit, Value value) {
  const DwarfFile* file = unit.file;
  std::uint64_t at = value.number;
  switch (value.form) {
    case dwarf::ref1:
    case dwarf::ref2:
    case dwarf::ref4:
    case dwarf::ref8:
    case dwarf::ref_udata:
      if (at >= unit.end - unit.begin || unit.begin + at < unit.first_entry) return {};
      return {&unit, unit.begin + at};
    case dwarf::ref_addr:
      break;
    case dwarf::ref_sup4:
    case dwarf::ref_sup8:
    case dwarf::gnu_ref_alt:
      file = file->alternate;
      break;
    default:
      return {};
  }
  const Unit* found = file == nullptr ? nullptr : file->unit_at(at);
  if (found == nullptr) return {};
  return {found, at};
}

RangeList::RangeList(const Unit& unit, Value ranges) : unit_(unit) {
  const Unit& owner = unit.skeleton != nullptr ? *unit.skeleton : unit;
  base_ = owner.base_address;
  std::uint64_t at = ranges.number;
  if (unit.shape.version < 5) {
    old_ = true;
    // .dwo files of DWARF 4 leave their ranges in the file that is linked; the unit there has its own without
    // the base.
    if (unit.skeleton != nullptr) at += owner.ranges_base;
    in_ = owner.file->reader(owner.file->sections.ranges, at);
    return;
  }
  const Bytes lists = unit.file->sections.rnglists;
  if (ranges.form == dwarf::rnglistx) {
    at = offset_at(unit, lists, unit.rnglists_base, at);
    at = at == UINT64_MAX ? at : at + unit.rnglists_base;
  }
  in_ = unit.file->reader(lists, at);
}

bool RangeList::next(std::uint64_t& begin, std::uint64_t& end) {
  return old_ ? next_old(begin, end) : next_new(begin, end);
}

bool RangeList::next_old(std::uint64_t& begin, std::uint64_t& end) {
  const unsigned size = unit_.shape.address_size;
  const std::uint64_t largest = size == 8 ? UINT64_MAX : 0xffffffff;
  while (left_-- > 0) {
    begin = in_.number(size);
    end = in_.number(size);
    if (in_.failed() || (begin == 0 && end == 0)) break;
    if (begin == largest) {
      base_ = end;
      continue;
    }
    begin += base_;
    end += base_;
    if (begin < end) return true;
  }
  left_ = 0;
  return false;
}

bool RangeList::next_new(std::uint64_t& begin, std::uint64_t& end) {
  const unsigned size = unit_.shape.address_size;
  while (left_-- > 0) {
    const std::uint8_t kind = in_.u8();
    if (in_.failed() || kind == dwarf::end_of_list) break;
    begin = end = 0;
    switch (kind) {
      case dwarf::base_addressx:
        base_ = indexed_address(unit_, in_.uleb()).value_or(0);
        break;
      case dwarf::startx_endx:
        begin = indexed_address(unit_, in_.uleb()).value_or(0);
        end = indexed_address(unit_, in_.uleb()).value_or(0);
        break;
      case dwarf::startx_length:
        begin = indexed_address(unit_, in_.uleb()).value_or(0);
        end = begin + in_.uleb();
        break;
      case dwarf::offset_pair:
        begin = base_ + in_.uleb();
        end = base_ + in_.uleb();
        break;
      case dwarf::base_address:
        base_ = in_.number(size);
        break;
      case dwarf::start_end:
        begin = in_.number(size);
        end = in_.number(size);
        break;
      case dwarf::start_length:
        begin = in_.number(size);
        end = begin + in_.uleb();
        break;
      default:
        left_ = 0;
        return false;
    }
    if (in_.failed()) break;
    if (begin < end) return true;
  }
  left_ = 0;
  return false;
}

}  // namespace profd::native
