#include "native/lines/names.h"

#include <algorithm>
#include <utility>

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

bool is_class(std::uint16_t tag) {
  return tag == dwarf::class_type || tag == dwarf::structure_type || tag == dwarf::union_type;
}

struct Parent {
  std::uint64_t at = 0;
  std::uint16_t tag = 0;
};

// What stands before a name so far, and the entry that the rest is before; none where that was all.
struct Prefix {
  std::string text;
  EntryRef before;
};

// From the innermost of the parents outward, up to one that is declared elsewhere.
void put_parents(const Unit& unit, std::span<const Parent> open, Prefix& prefix) {
  prefix.before = {};
  for (auto parent = open.rbegin(); parent != open.rend(); ++parent) {
    if (!is_parent(parent->tag)) continue;
    const FunctionNames names = names_of({&unit, parent->at}, NamesWanted::name);
    std::string_view name = names.name;
    if (name.empty()) name = is_class(parent->tag) ? "<lambda>" : "(anonymous namespace)";
    if (prefix.text.size() + name.size() > kMaxName) return;
    prefix.text = std::string(name) + "::" + prefix.text;
    if (names.named && (names.named.at != parent->at || names.named.unit != &unit)) {
      prefix.before = names.named;
      return;
    }
  }
}

// One pass over the unit for those of `prefixes` that are before entries of it, sorted by place.
void put_parents_in(const Unit& unit, std::span<Prefix* const> prefixes) {
  std::vector<Parent> open;
  auto next = prefixes.begin();
  EntryWalk walk(unit);
  while (next != prefixes.end() && walk.next()) {
    open.resize(walk.depth());
    for (; next != prefixes.end() && (*next)->before.at <= walk.at(); ++next) {
      if ((*next)->before.at == walk.at())
        put_parents(unit, open, **next);
      else
        (*next)->before = {};
    }
    if (walk.has_children()) open.push_back({walk.at(), walk.abbreviation().tag});
    walk.skip();
  }
  for (; next != prefixes.end(); ++next) (*next)->before = {};
}

}  // namespace

FunctionNames names_of(EntryRef entry, NamesWanted wanted) {
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
    if (wanted == NamesWanted::all && !names.linkage.empty() && !names.name.empty() &&
        names.declared_in != nullptr)
      break;
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

std::vector<std::string> prefixes_of(std::span<const EntryRef> named) {
  std::vector<Prefix> prefixes;
  for (const EntryRef& entry : named) prefixes.push_back({{}, entry});
  for (unsigned hop = 0; hop < kMaxHops; ++hop) {
    std::vector<Prefix*> open;
    for (Prefix& prefix : prefixes)
      if (prefix.before) open.push_back(&prefix);
    if (open.empty()) break;
    std::sort(open.begin(), open.end(), [](const Prefix* a, const Prefix* b) {
      return std::pair(a->before.unit, a->before.at) < std::pair(b->before.unit, b->before.at);
    });
    for (std::size_t i = 0; i < open.size();) {
      const Unit* unit = open[i]->before.unit;
      std::size_t end = i;
      while (end < open.size() && open[end]->before.unit == unit) ++end;
      put_parents_in(*unit, std::span(open).subspan(i, end - i));
      i = end;
    }
  }
  std::vector<std::string> texts;
  for (Prefix& prefix : prefixes) texts.push_back(std::move(prefix.text));
  return texts;
}

}  // namespace profd::native
