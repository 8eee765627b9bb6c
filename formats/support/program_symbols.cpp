#include "formats/support/program_symbols.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "formats/support/byte_cursor.h"
#include "formats/support/demangle.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"

namespace profd::program {
namespace {

bool is_elf_program(std::span<const std::byte> bytes) {
  return bytes.size() > 64 && std::memcmp(bytes.data(),
                                          "\x7f"
                                          "ELF",
                                          4) == 0;
}

// What gprof takes for a function: code, but no label of the compiler's.
bool is_function(std::string_view name) {
  return !name.empty() && name.find('$') == std::string_view::npos && name != "gcc2_compiled." &&
         name != "__gnu_compiled_c";
}

struct Section {
  std::string_view name;
  std::uint32_t type = 0, link = 0;
  std::uint64_t address = 0, offset = 0, size = 0, entry = 0, flags = 0;
};

bool lies_in(const Section& section, std::span<const std::byte> bytes) {
  return section.offset <= bytes.size() && section.size <= bytes.size() - section.offset;
}

// Empty when the file has none, or they lie outside of it.
std::vector<Section> sections_of(std::span<const std::byte> bytes, bool wide, std::endian order) {
  const auto word = [&](ByteCursor& in) { return wide ? in.u64() : in.u32(); };
  ByteCursor head(bytes, order);
  head.seek(wide ? 40 : 32);
  const std::uint64_t sections = word(head);
  head.seek(wide ? 58 : 46);
  const std::uint64_t entry = head.u16(), n = head.u16(), names = head.u16();
  if (!head.ok() || entry < (wide ? 64u : 40u)) return {};
  std::vector<Section> table;
  std::vector<std::uint32_t> name_at;
  for (std::uint64_t i = 0; i < n; ++i) {
    ByteCursor in(bytes, order);
    in.seek(sections + i * entry);
    Section s;
    name_at.push_back(in.u32());
    s.type = in.u32();
    s.flags = word(in);
    s.address = word(in);
    s.offset = word(in);
    s.size = word(in);
    s.link = in.u32();
    in.skip(4);
    word(in);  // alignment
    s.entry = word(in);
    if (!in.ok()) return {};
    table.push_back(s);
  }
  if (names >= table.size() || !lies_in(table[names], bytes)) return table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    ByteCursor text(bytes.subspan(table[names].offset, table[names].size), order);
    text.seek(name_at[i]);
    const std::string_view name = text.text_to_nul();
    if (text.ok()) table[i].name = name;
  }
  return table;
}

// Places of probes, 32 bytes each, those of one function together; functions are numbered as they come. From
// version 2 on addresses are distances from where they stand.
std::vector<std::uint64_t> read_xray_map(std::span<const std::byte> bytes, const std::vector<Section>& table,
                                         std::endian order) {
  constexpr std::uint64_t kPlace = 32;
  std::vector<std::uint64_t> out;
  for (const Section& map : table) {
    constexpr std::uint32_t kNoBits = 8;
    if (map.name != "xray_instr_map" || map.type == kNoBits || !lies_in(map, bytes)) continue;
    ByteCursor in(bytes.subspan(map.offset, map.size), order);
    for (std::uint64_t at = 0; in.left() >= kPlace; at += kPlace) {
      in.skip(8);  // the place itself
      std::uint64_t function = in.u64();
      in.skip(2);  // what kind, and whether it always has a probe
      if (in.u8() >= 2) function += map.address + at + 8;
      in.skip(kPlace - 19);
      if (out.empty() || out.back() != function) out.push_back(function);
    }
  }
  return out;
}

}  // namespace

void Symbols::tidy() {
  // Of several names of one place the global one; else the first in the list.
  std::stable_sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    const auto local = [](char type) { return type == 't' ? 1 : 0; };
    return a.address != b.address ? a.address < b.address : local(a.type) < local(b.type);
  });
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(),
                             [](const Symbol& a, const Symbol& b) { return a.address == b.address; }),
                 symbols_.end());
}

Symbols Symbols::from_nm(std::string_view text) {
  Symbols out;
  LineReader lines(text);
  for (std::string_view line; lines.next(line);) {
    // "0000000000002369 T fib(int)"
    std::string_view rest = trim(line);
    const std::size_t blank = rest.find(' ');
    std::uint64_t address;
    if (blank == std::string_view::npos || !parse_hex(rest.substr(0, blank), address)) continue;
    rest = trim(rest.substr(blank));
    if (rest.size() < 3 || rest[1] != ' ' ||
        std::string_view("TtWwVvi").find(rest[0]) == std::string_view::npos)
      continue;
    const std::string_view name = trim(rest.substr(2));
    if (is_function(name)) out.symbols_.push_back({address, demangle(name), rest[0]});
  }
  out.tidy();
  return out;
}

Symbols Symbols::from_elf(std::span<const std::byte> bytes) {
  Symbols out;
  if (!is_elf_program(bytes)) return out;
  const bool wide = bytes[4] == std::byte{2};
  const auto order = bytes[5] == std::byte{2} ? std::endian::big : std::endian::little;
  const std::vector<Section> table = sections_of(bytes, wide, order);
  if (wide) out.xray_functions_ = read_xray_map(bytes, table, order);
  constexpr std::uint32_t kSymtab = 2;
  for (const Section& symtab : table) {
    if (symtab.type != kSymtab || symtab.link >= table.size() || symtab.entry < (wide ? 24u : 16u)) continue;
    const Section& strings = table[symtab.link];
    if (!lies_in(strings, bytes) || !lies_in(symtab, bytes)) continue;
    for (std::uint64_t at = 0; at + symtab.entry <= symtab.size; at += symtab.entry) {
      ByteCursor in(bytes.subspan(symtab.offset + at, symtab.entry), order);
      const std::uint32_t name = in.u32();
      std::uint64_t value = 0;
      std::uint8_t info = 0;
      std::uint16_t section = 0;
      if (wide) {
        info = in.u8();
        in.skip(1);
        section = in.u16();
        value = in.u64();
      } else {
        value = in.u32();
        in.skip(4);
        info = in.u8();
        in.skip(1);
        section = in.u16();
      }
      constexpr std::uint8_t kNoType = 0, kFunction = 2;
      constexpr std::uint64_t kExecutable = 4;
      const std::uint8_t type = info & 15;
      if ((type != kFunction && type != kNoType) || section == 0 || section >= table.size() ||
          (table[section].flags & kExecutable) == 0 || name >= strings.size)
        continue;
      ByteCursor text(bytes.subspan(strings.offset + name, strings.size - name), order);
      const std::string_view symbol = text.text_to_nul();
      if (text.ok() && is_function(symbol))
        out.symbols_.push_back({value, demangle(symbol), (info >> 4) == 0 ? 't' : 'T'});
    }
  }
  out.tidy();
  return out;
}

std::size_t Symbols::find(std::uint64_t address) const {
  const auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                      [](std::uint64_t a, const Symbol& s) { return a < s.address; });
  return after == symbols_.begin() ? kNowhere : static_cast<std::size_t>(after - symbols_.begin()) - 1;
}

Symbols symbols_of(std::span<const std::byte> program) {
  if (is_elf_program(program)) return Symbols::from_elf(program);
  return Symbols::from_nm({reinterpret_cast<const char*>(program.data()), program.size()});
}

Symbols symbols_beside(const Folder* folder, ReadContext& context, std::string& program) {
  if (!folder) return {};
  std::vector<std::string> lists, programs;
  for (const std::string& file : folder->files()) {
    if (file.find('/') != std::string::npos) continue;
    if (file.ends_with(".nm") || file.ends_with(".nm.txt")) lists.push_back(file);
  }
  if (lists.size() == 1) {
    const auto source = folder->open(lists.front());
    if (source) {
      program = lists.front().substr(0, lists.front().rfind(".nm"));
      return Symbols::from_nm(source->text());
    }
  }
  constexpr std::size_t kMaxLookedInto = 200;
  Symbols found;
  for (std::size_t i = 0; i < folder->files().size() && i < kMaxLookedInto && lists.empty(); ++i) {
    const std::string& file = folder->files()[i];
    if (file.find('/') != std::string::npos || file.find(".so") != std::string::npos || file.ends_with(".o"))
      continue;
    const auto source = folder->open(file);
    if (!source || !is_elf_program(source->bytes())) continue;
    programs.push_back(file);
    if (programs.size() == 1) found = Symbols::from_elf(source->bytes());
  }
  if (lists.size() + programs.size() > 1) {
    context.report.add(
        "several-programs", Severity::loss,
        "several programs or lists of symbols lie beside the file; it does not say which is its own");
    return {};
  }
  if (programs.size() == 1) program = programs.front();
  return found;
}

}  // namespace profd::program
