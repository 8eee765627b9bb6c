#include "native/lines/names.h"

#include "native/elf/symbols.h"
#include "native/lines/walk.h"

namespace profd::native {
namespace {

bool is_parent(std::uint16_t tag) {
  switch (tag) {
    case dwarf::class_type:
    case dwarf::structure_type:
    case dwarf::union_type:
    case dwarf::enumeration_type:
    case dwarf::interface_type:
    case dwarf::module:
    case dwarf::name_space:
    case dwarf::subprogram:
      return true;
    default:
      return false;
  }
}

std::string name_as_parent(const Unit& unit, std::uint64_t at, std::uint16_t tag) {
  const std::string_view name = names_of({&unit, at}).name;
  if (!name.empty()) return std::string(name);
  return tag == dwarf::name_space ? "(anonymous namespace)" : "(anonymous)";
}

}  // namespace

FunctionNames names_of(EntryRef entry) {
  FunctionNames names;
  for (unsigned hop = 0; hop <= kMaxHops && entry; ++hop) {
    const Unit& unit = *entry.unit;
    names.named = entry;
    const AbbreviationTable& table = unit.file->table(unit);
    ByteReader in = entries(unit, entry.at);
    const Abbreviation* abbreviation = table.find(in.uleb());
    if (abbreviation == nullptr) break;
    Value origin, specification, name, linkage, file, line;
    for (std::uint32_t i = 0; i < abbreviation->count; ++i) {
      const AttributeSpec& spec = table.specs(*abbreviation)[i];
      const Value value = read_value(in, spec, unit.shape);
      switch (spec.name) {
        case dwarf::abstract_origin:
          origin = value;
          break;
        case dwarf::specification:
          specification = value;
          break;
        case dwarf::name:
          name = value;
          break;
        case dwarf::linkage_name:
        case dwarf::mips_linkage_name:
          linkage = value;
          break;
        case dwarf::decl_file:
          file = value;
          break;
        case dwarf::decl_line:
          line = value;
          break;
        default:
          break;
      }
    }
    if (in.failed()) break;
    if (names.linkage.empty()) names.linkage = text_of(unit, linkage).substr(0, kMaxName);
    if (names.name.empty()) names.name = text_of(unit, name).substr(0, kMaxName);
    if (names.declared_in == nullptr && file && line) {
      names.declared_in = &unit;
      names.file = constant_of(file);
      names.line = static_cast<std::uint32_t>(constant_of(line));
    }
    if (!names.linkage.empty() && !names.name.empty() && names.declared_in != nullptr) break;
    entry = entry_of(unit, origin ? origin : specification);
  }
  return names;
}

bool has_qualified_names(const Unit& unit) {
  switch (unit.language) {
    case 0x01:  // C89
    case 0x02:  // C
    case 0x0c:  // C99
    case 0x16:  // Go
    case 0x1d:  // C11
    case 0x2c:  // C17
    case 0x8001:
      return false;  // assembler
    default:
      return true;
  }
}

std::vector<std::string> parents_of(const Unit& unit, std::span<const std::uint64_t> at) {
  std::vector<std::string> prefixes(at.size());
  struct Parent {
    std::uint64_t at;
    std::uint16_t tag;
  };
  std::vector<Parent> open;
  std::size_t next = 0;
  EntryWalk walk(unit);
  while (next < at.size() && walk.next()) {
    open.resize(walk.depth(), Parent{0, 0});
    for (; next < at.size() && at[next] <= walk.at(); ++next) {
      if (at[next] != walk.at()) continue;
      for (const Parent& parent : open)
        if (is_parent(parent.tag) && prefixes[next].size() < kMaxName)
          prefixes[next] += name_as_parent(unit, parent.at, parent.tag).substr(0, kMaxName) + "::";
    }
    if (walk.has_children()) open.push_back({walk.at(), walk.abbreviation().tag});
    walk.skip();
  }
  return prefixes;
}

}  // namespace profd::native
