#include "native/elf/symbols.h"

#include <algorithm>
#include <tuple>

namespace profd::native {
namespace {

constexpr std::uint32_t kSymtab = 2, kRela = 4, kRel = 9, kDynsym = 11;
constexpr unsigned kNoType = 0, kFunction = 2, kIndirectFunction = 10;

struct RawSymbol {
  std::uint32_t name = 0;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  unsigned type = 0;
  unsigned binding = 0;
  std::uint32_t section = 0;
};

// The entries of a symbol table, which lie one behind the other.
struct Table {
  const ElfImage& image;
  Bytes entries;
  Bytes strings;

  Table(const ElfImage& of, const Section& section) : image(of), entries(raw_bytes(of, section)) {
    if (section.link < of.sections.size()) strings = raw_bytes(of, of.sections[section.link]);
  }
  std::uint64_t entry_size() const { return image.is_64 ? 24 : 16; }
  std::uint64_t count() const { return entries.size() / entry_size(); }
  RawSymbol at(std::uint64_t i) const {
    ByteReader in = image.reader(entries, i * entry_size());
    RawSymbol symbol;
    symbol.name = in.u32();
    if (!image.is_64) {
      symbol.value = in.u32();
      symbol.size = in.u32();
    }
    const unsigned info = in.u8();
    in.u8();
    symbol.type = info & 15;
    symbol.binding = info >> 4;
    symbol.section = in.u16();
    if (image.is_64) {
      symbol.value = in.u64();
      symbol.size = in.u64();
    }
    return symbol;
  }
  std::string_view name(const RawSymbol& symbol) const {
    return image.reader(strings, symbol.name).text().substr(0, kMaxName);
  }
};

const Section* table_of(const ElfImage& image, std::uint32_t type) {
  for (const Section& section : image.sections)
    if (section.type == type && section.has_bytes()) return &section;
  return nullptr;
}

// "$x", "$d.12": what the ABI of ARM has assemblers put where the kind of bytes changes.
std::optional<CodeMark> mark_of(std::string_view name) {
  if (name.size() < 2 || name[0] != '$' || (name.size() > 2 && name[2] != '.')) return std::nullopt;
  switch (name[1]) {
    case 'x':
      return CodeMark::aarch64;
    case 'a':
      return CodeMark::arm;
    case 't':
      return CodeMark::thumb;
    case 'd':
      return CodeMark::data;
    default:
      return std::nullopt;
  }
}

// Names that assemblers and linkers make up for themselves.
bool is_internal(std::string_view name) {
  return name.empty() || name.starts_with(".L") || name[0] == '$';
}

std::size_t underscores(std::string_view name) {
  return std::min(name.find_first_not_of('_'), name.size());
}

int rank(unsigned binding) {
  return binding == 1 ? 0 : binding == 2 ? 1 : 2;
}

}  // namespace

std::vector<Symbol> code_symbols(const ElfImage& image, SymbolTable which) {
  const Section* section = table_of(image, which == SymbolTable::symtab ? kSymtab : kDynsym);
  if (section == nullptr) return {};
  const Table table(image, *section);
  struct Ranked {
    Symbol symbol;
    int binding;
  };
  std::vector<Ranked> found;
  for (std::uint64_t i = 1; i < table.count(); ++i) {
    const RawSymbol raw = table.at(i);
    const bool function = raw.type == kFunction || raw.type == kIndirectFunction;
    if (!function && raw.type != kNoType) continue;
    if (raw.section == 0 || raw.section >= image.sections.size()) continue;
    const Section& home = image.sections[raw.section];
    if (!home.executable() || (image.relocatable && home.name != ".text")) continue;
    Symbol symbol{raw.value, raw.size, table.name(raw), function};
    if (is_internal(symbol.name)) continue;
    if (image.machine == Machine::arm && function) symbol.vaddr &= ~std::uint64_t{1};
    if (!image.relocatable && (symbol.vaddr < home.vaddr || symbol.vaddr - home.vaddr >= home.size)) continue;
    if (symbol.size > UINT64_MAX - symbol.vaddr) symbol.size = 0;
    found.push_back({symbol, rank(raw.binding)});
  }
  std::sort(found.begin(), found.end(), [](const Ranked& a, const Ranked& b) {
    const auto key = [](const Ranked& of) {
      return std::tuple(of.symbol.vaddr, !of.symbol.stated_function, of.binding, underscores(of.symbol.name),
                        of.symbol.name);
    };
    return key(a) < key(b);
  });
  std::vector<Symbol> symbols;
  symbols.reserve(found.size());
  for (const Ranked& ranked : found) symbols.push_back(ranked.symbol);
  return symbols;
}

std::vector<Mark> code_marks(const ElfImage& image) {
  const Section* section = table_of(image, kSymtab);
  if (section == nullptr || (image.machine != Machine::arm && image.machine != Machine::aarch64)) return {};
  const Table table(image, *section);
  std::vector<Mark> marks;
  for (std::uint64_t i = 1; i < table.count(); ++i) {
    const RawSymbol raw = table.at(i);
    if (raw.type != kNoType || raw.section >= image.sections.size()) continue;
    if (!image.sections[raw.section].executable()) continue;
    if (const auto mark = mark_of(table.name(raw))) marks.push_back({raw.value, *mark});
  }
  std::stable_sort(marks.begin(), marks.end(), [](Mark a, Mark b) { return a.vaddr < b.vaddr; });
  return marks;
}

namespace {

struct Slot {
  std::uint64_t vaddr = 0;
  std::string_view name;
};

// Slots of the global offset table that relocations fill with a function's address.
std::vector<Slot> slots_of(const ElfImage& image) {
  std::vector<Slot> slots;
  for (const Section& section : image.sections) {
    if ((section.type != kRela && section.type != kRel) || !section.loaded()) continue;
    if (section.link >= image.sections.size() || image.sections[section.link].type != kDynsym) continue;
    const Table table(image, image.sections[section.link]);
    const Bytes bytes = raw_bytes(image, section);
    const unsigned width = image.is_64 ? 8 : 4;
    const unsigned size = width * (section.type == kRela ? 3 : 2);
    for (std::uint64_t at = 0; at + size <= bytes.size(); at += size) {
      ByteReader in = image.reader(bytes, at);
      const std::uint64_t vaddr = in.number(width), info = in.number(width);
      const std::uint64_t symbol = image.is_64 ? info >> 32 : info >> 8;
      const std::uint64_t type = image.is_64 ? info & 0xffffffff : info & 0xff;
      const bool fills =
          image.machine == Machine::aarch64 ? type == 1025 || type == 1026 : type == 6 || type == 7;
      if (!fills || symbol == 0 || symbol >= table.count()) continue;
      if (const std::string_view name = table.name(table.at(symbol)); !name.empty())
        slots.push_back({vaddr, name});
    }
  }
  std::sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) {
    return std::tuple(a.vaddr, a.name) < std::tuple(b.vaddr, b.name);
  });
  return slots;
}

// The slot that an entry of 8 or 16 bytes jumps through.
std::optional<std::uint64_t> x86_slot(const ElfImage& image, Bytes entry, std::uint64_t vaddr) {
  for (std::size_t i = 0; i + 6 <= entry.size(); ++i) {
    if (entry[i] != 0xff || entry[i + 1] != 0x25) continue;
    const std::uint32_t field = image.reader(entry, i + 2).u32();
    if (image.machine == Machine::x86) return field;
    const auto distance =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(field)));
    return vaddr + i + 6 + distance;
  }
  return std::nullopt;
}

// adrp x16, page; ldr x17, [x16, #offset].
std::optional<std::uint64_t> aarch64_slot(const ElfImage& image, Bytes entry, std::uint64_t vaddr) {
  for (std::size_t i = 0; i + 8 <= entry.size(); i += 4) {
    ByteReader in = image.reader(entry, i);
    const std::uint32_t adrp = in.u32(), load = in.u32();
    if ((adrp & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211) continue;
    const std::uint64_t pages = ((adrp >> 29) & 3) | ((adrp >> 3) & 0x1ffffc);
    const std::uint64_t distance = (pages << 12) | ((pages & 0x100000) != 0 ? ~std::uint64_t{0} << 33 : 0);
    return ((vaddr + i) & ~std::uint64_t{4095}) + distance + ((load >> 10) & 0xfff) * 8;
  }
  return std::nullopt;
}

}  // namespace

std::vector<PltStub> plt_stubs(const ElfImage& image) {
  const bool arm = image.machine == Machine::aarch64;
  if (!arm && image.machine != Machine::x86_64 && image.machine != Machine::x86) return {};
  std::vector<Slot> slots;
  std::vector<PltStub> stubs;
  for (const Section& section : image.sections) {
    if (!section.executable() || !section.name.starts_with(".plt")) continue;
    if (slots.empty()) slots = slots_of(image);
    if (slots.empty()) return {};
    const std::uint64_t step =
        !arm && (section.entry_size == 8 || section.entry_size == 16) ? section.entry_size : 16;
    const Bytes bytes = raw_bytes(image, section);
    // The head of AArch64's table is two entries long, and entries with a landing pad are 24 bytes: both are
    // found by what they load.
    for (std::uint64_t at = 0; at + 8 <= bytes.size(); at += arm ? 4 : step) {
      const std::uint64_t vaddr = section.vaddr + at;
      const Bytes entry = slice(bytes, at, arm ? 8 : step);
      const auto slot = arm ? aarch64_slot(image, entry, vaddr) : x86_slot(image, entry, vaddr);
      if (!slot) continue;
      const auto found = std::lower_bound(slots.begin(), slots.end(), *slot,
                                          [](const Slot& a, std::uint64_t b) { return a.vaddr < b; });
      if (found != slots.end() && found->vaddr == *slot)
        stubs.push_back({vaddr, arm ? 16 : step, found->name});
    }
  }
  std::sort(stubs.begin(), stubs.end(), [](const PltStub& a, const PltStub& b) { return a.vaddr < b.vaddr; });
  return stubs;
}

}  // namespace profd::native
