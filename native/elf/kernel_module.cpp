#include "native/elf/kernel_module.h"

#include <algorithm>
#include <string>
#include <utility>

namespace profd::native {
namespace {

constexpr std::uint32_t kTableOfSymbols = 2, kRelocations = 4;
constexpr std::uint16_t kExecutable = 2, kFirstReserved = 0xff00;
constexpr std::uint64_t kHeader64 = 64, kSectionHeader = 64, kSymbolEntry = 24, kRelocation = 24;
constexpr std::uint64_t kMaxAlignment = 1 << 20;

// Writes in the byte order of the file; what would lie outside of it is not written.
class Patch {
 public:
  Patch(std::vector<std::uint8_t>& bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  bool put(std::uint64_t at, std::uint64_t value, unsigned size) {
    if (at > bytes_.size() || size > bytes_.size() - at) return false;
    for (unsigned i = 0; i < size; ++i)
      bytes_[at + (big_endian_ ? size - 1 - i : i)] = static_cast<std::uint8_t>(value >> (8 * i));
    return true;
  }

 private:
  std::vector<std::uint8_t>& bytes_;
  bool big_endian_;
};

// Bytes that a relocation of debug information fills with symbol + addend; 0: another kind, which fills none
// of it.
unsigned filled(Machine machine, std::uint64_t type) {
  if (machine == Machine::x86_64) return type == 1 ? 8 : type == 10 || type == 11 ? 4 : 0;
  return type == 257 ? 8 : type == 258 ? 4 : 0;
}

class Layout {
 public:
  Layout(const ElfImage& image, ExpansionBudget& budget)
      : image_(image),
        budget_(budget),
        bytes_(image.bytes.begin(), image.bytes.end()),
        patch_(bytes_, image.big_endian) {
    ByteReader in = image.reader(image.bytes, 40);
    headers_at_ = in.u64();
    in.seek(58);
    header_size_ = in.u16();
  }

  Result<std::vector<std::uint8_t>> run() && {
    if (header_size_ < kSectionHeader) return fail(ErrorCode::malformed, "section headers are too short");
    place();
    for (std::size_t i = 0; i < image_.sections.size(); ++i) PROFD_CHECK(expand(i));
    // What they count on, before it is changed.
    for (std::size_t i = 0; i < image_.sections.size(); ++i) relocate(image_.sections[i], i);
    for (const Section& section : image_.sections)
      if (section.type == kTableOfSymbols) move_symbols(section);
    patch_.put(16, kExecutable, 2);
    return std::move(bytes_);
  }

 private:
  std::uint64_t header(std::size_t section) const { return headers_at_ + section * header_size_; }

  // As the kernel does: code first, section by section. That for its beginning is not kept; where one comes
  // that it makes room in (the tables for long jumps of ARM), what follows lies nobody knows where.
  void place() {
    vaddr_.assign(image_.sections.size(), 0);
    offset_.resize(image_.sections.size());
    size_.resize(image_.sections.size());
    std::uint64_t code = 0, data = kModuleData;
    bool known = true;
    for (std::size_t i = 0; i < image_.sections.size(); ++i) {
      const Section& section = image_.sections[i];
      offset_[i] = section.offset;
      size_[i] = section.size;
      if (!section.loaded()) continue;
      ByteReader in = image_.reader(image_.bytes, header(i) + 48);
      const std::uint64_t alignment = std::clamp<std::uint64_t>(in.u64(), 1, kMaxAlignment);
      const bool is_code = section.executable() && !section.name.starts_with(".init");
      if (is_code && section.name.starts_with(".plt")) known = false;
      std::uint64_t& end = is_code && known ? code : data;
      end = (end + alignment - 1) / alignment * alignment;
      vaddr_[i] = end;
      end += std::min(section.size, kModuleData / 2);
      patch_.put(header(i) + 16, vaddr_[i], 8);
    }
  }

  // Relocations count in what is expanded, which is put behind the file.
  Result<void> expand(std::size_t i) {
    const Section& section = image_.sections[i];
    if (!section.compressed() || !section.name.starts_with(".debug_")) return {};
    PROFD_TRY(const SectionBytes expanded, section_bytes(image_, section, budget_));
    offset_[i] = bytes_.size();
    size_[i] = expanded.bytes.size();
    bytes_.insert(bytes_.end(), expanded.bytes.begin(), expanded.bytes.end());
    constexpr std::uint64_t kCompressed = 0x800;
    patch_.put(header(i) + 8, section.flags & ~kCompressed, 8);
    patch_.put(header(i) + 24, offset_[i], 8);
    patch_.put(header(i) + 32, size_[i], 8);
    return {};
  }

  struct ModuleSymbol {
    std::uint64_t value = 0;
    std::uint16_t section = 0;
  };
  ModuleSymbol symbol(Bytes table, std::uint64_t row) const {
    ByteReader in = image_.reader(table, row * kSymbolEntry + 6);
    ModuleSymbol out;
    out.section = in.u16();
    out.value = in.u64();
    return out;
  }
  std::uint64_t address(const ModuleSymbol& symbol) const {
    const bool has_home = symbol.section < kFirstReserved && symbol.section < vaddr_.size();
    return symbol.value + (has_home ? vaddr_[symbol.section] : 0);
  }

  void relocate(const Section& relocations, std::size_t i) {
    if (relocations.type != kRelocations || !relocations.has_bytes()) return;
    ByteReader in = image_.reader(image_.bytes, header(i) + 44);
    const std::uint32_t target = in.u32();
    if (target >= image_.sections.size() || !image_.sections[target].name.starts_with(".debug_")) return;
    if (relocations.link >= image_.sections.size()) return;
    const Bytes symbols = raw_bytes(image_, image_.sections[relocations.link]);
    const Bytes entries = raw_bytes(image_, relocations);
    for (std::uint64_t at = 0; at + kRelocation <= entries.size(); at += kRelocation) {
      ByteReader entry = image_.reader(entries, at);
      const std::uint64_t offset = entry.u64(), info = entry.u64(), addend = entry.u64();
      const unsigned size = filled(image_.machine, info & 0xffffffff);
      if (size == 0 || offset > size_[target] || size > size_[target] - offset) continue;
      patch_.put(offset_[target] + offset, address(symbol(symbols, info >> 32)) + addend, size);
    }
  }

  void move_symbols(const Section& section) {
    const Bytes table = raw_bytes(image_, section);
    for (std::uint64_t row = 1; (row + 1) * kSymbolEntry <= table.size(); ++row)
      patch_.put(section.offset + row * kSymbolEntry + 8, address(symbol(table, row)), 8);
  }

  const ElfImage& image_;
  ExpansionBudget& budget_;
  std::vector<std::uint8_t> bytes_;
  Patch patch_;
  std::uint64_t headers_at_ = 0, header_size_ = 0;
  std::vector<std::uint64_t> vaddr_, offset_, size_;  // by section
};

}  // namespace

Result<std::vector<std::uint8_t>> lay_out_module(const ElfImage& image, ExpansionBudget& budget) {
  const bool known = image.machine == Machine::x86_64 || image.machine == Machine::aarch64;
  if (!image.relocatable || !image.is_64 || !known || image.bytes.size() < kHeader64)
    return fail(ErrorCode::unsupported, "no module of a kernel that is known");
  if (image.bytes.size() > budget.left) return fail(ErrorCode::limit, "the module is larger than is allowed");
  budget.left -= image.bytes.size();
  return Layout(image, budget).run();
}

}  // namespace profd::native
