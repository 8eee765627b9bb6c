#include "native/lines/abbreviations.h"

#include <algorithm>

#include "native/lines/dwarf.h"

namespace profd::native {
namespace {

SkipKind skip_kind(std::uint32_t form) {
  switch (form) {
    case dwarf::string:
      return SkipKind::text;
    case dwarf::block1:
      return SkipKind::block1;
    case dwarf::block2:
      return SkipKind::block2;
    case dwarf::block4:
      return SkipKind::block4;
    case dwarf::block:
    case dwarf::exprloc:
      return SkipKind::block_leb;
    case dwarf::indirect:
      return SkipKind::indirect;
    default:
      return SkipKind::leb;
  }
}

bool is_known(std::uint32_t form, UnitShape shape) {
  if (fixed_size(form, shape) >= 0) return true;
  switch (form) {
    case dwarf::block:
    case dwarf::block1:
    case dwarf::block2:
    case dwarf::block4:
    case dwarf::exprloc:
    case dwarf::string:
    case dwarf::sdata:
    case dwarf::udata:
    case dwarf::ref_udata:
    case dwarf::indirect:
    case dwarf::strx:
    case dwarf::addrx:
    case dwarf::loclistx:
    case dwarf::rnglistx:
    case dwarf::gnu_addr_index:
    case dwarf::gnu_str_index:
      return true;
    default:
      return false;
  }
}

}  // namespace

int fixed_size(std::uint32_t form, UnitShape shape) {
  switch (form) {
    case dwarf::flag_present:
    case dwarf::implicit_const:
      return 0;
    case dwarf::data1:
    case dwarf::ref1:
    case dwarf::flag:
    case dwarf::strx1:
    case dwarf::addrx1:
      return 1;
    case dwarf::data2:
    case dwarf::ref2:
    case dwarf::strx2:
    case dwarf::addrx2:
      return 2;
    case dwarf::strx3:
    case dwarf::addrx3:
      return 3;
    case dwarf::data4:
    case dwarf::ref4:
    case dwarf::ref_sup4:
    case dwarf::strx4:
    case dwarf::addrx4:
      return 4;
    case dwarf::data8:
    case dwarf::ref8:
    case dwarf::ref_sig8:
    case dwarf::ref_sup8:
      return 8;
    case dwarf::data16:
      return 16;
    case dwarf::addr:
      return shape.address_size;
    case dwarf::ref_addr:
      return shape.version <= 2 ? shape.address_size : shape.offset_size;
    case dwarf::sec_offset:
    case dwarf::strp:
    case dwarf::line_strp:
    case dwarf::strp_sup:
    case dwarf::gnu_ref_alt:
    case dwarf::gnu_strp_alt:
      return shape.offset_size;
    default:
      return -1;
  }
}

AbbreviationTable::AbbreviationTable(Bytes abbrev, bool big_endian, std::uint64_t at, UnitShape shape)
    : AbbreviationTable(abbrev, big_endian, at, shape, 0) {}

AbbreviationTable::AbbreviationTable(Bytes abbrev, bool big_endian, std::uint64_t at, UnitShape shape,
                                     std::uint64_t last_code) {
  ByteReader in(abbrev, big_endian, at);
  while (in.more()) {
    Abbreviation one;
    one.code = in.uleb();
    if (one.code == 0) break;
    one.tag = static_cast<std::uint16_t>(in.uleb());
    one.has_children = in.u8() != 0;
    one.first = static_cast<std::uint32_t>(specs_.size());
    one.first_step = static_cast<std::uint32_t>(steps_.size());
    SkipStep open;
    bool known = true;
    while (in.more()) {
      const std::uint64_t name = in.uleb(), form = in.uleb();
      const std::int64_t constant = form == dwarf::implicit_const ? in.sleb() : 0;
      if (name == 0 && form == 0) break;
      known = known && form <= 0xffff && is_known(static_cast<std::uint32_t>(form), shape);
      if (!known) continue;
      specs_.push_back({static_cast<std::uint16_t>(name <= 0xffff ? name : 0),
                        static_cast<std::uint16_t>(form), constant});
      add_step(static_cast<std::uint32_t>(form), shape, open);
    }
    if (in.failed()) break;
    if (open.fixed > 0) steps_.push_back(open);
    one.count = static_cast<std::uint32_t>(specs_.size()) - one.first;
    one.step_count = static_cast<std::uint32_t>(steps_.size()) - one.first_step;
    // A form nobody knows has no size: its entries cannot be passed over, and a unit ends where the first one
    // is met.
    if (known) {
      if (one.code == dense_.size() + 1)
        dense_.push_back(one);
      else
        sparse_.push_back(one);
    }
    if (one.code == last_code) break;
  }
  std::stable_sort(sparse_.begin(), sparse_.end(),
                   [](const Abbreviation& a, const Abbreviation& b) { return a.code < b.code; });
}

void AbbreviationTable::add_step(std::uint32_t form, UnitShape shape, SkipStep& open) {
  if (const int size = fixed_size(form, shape); size >= 0) {
    open.fixed += static_cast<std::uint32_t>(size);
    return;
  }
  open.kind = skip_kind(form);
  steps_.push_back(open);
  open = {};
}

const Abbreviation* AbbreviationTable::find_sparse(std::uint64_t code) const {
  const auto found = std::lower_bound(sparse_.begin(), sparse_.end(), code,
                                      [](const Abbreviation& a, std::uint64_t b) { return a.code < b; });
  return found != sparse_.end() && found->code == code ? &*found : nullptr;
}

}  // namespace profd::native
