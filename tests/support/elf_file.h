// ELF files and DWARF sections written by hand: little-endian, 64 bits.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "native/elf/bytes.h"

namespace profd::test {

// Bytes as they are put together; texts end with NUL.
struct ByteWriter {
  std::vector<std::uint8_t> bytes;

  ByteWriter& number(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    return *this;
  }
  ByteWriter& u8(std::uint64_t value) { return number(value, 1); }
  ByteWriter& u16(std::uint64_t value) { return number(value, 2); }
  ByteWriter& u32(std::uint64_t value) { return number(value, 4); }
  ByteWriter& u64(std::uint64_t value) { return number(value, 8); }
  ByteWriter& uleb(std::uint64_t value) {
    while (value >= 0x80) {
      u8((value & 0x7f) | 0x80);
      value >>= 7;
    }
    return u8(value);
  }
  ByteWriter& sleb(std::int64_t value) {
    while (value < -64 || value > 63) {
      u8((static_cast<std::uint64_t>(value) & 0x7f) | 0x80);
      value >>= 7;
    }
    return u8(static_cast<std::uint64_t>(value) & 0x7f);
  }
  ByteWriter& text(std::string_view value) {
    bytes.insert(bytes.end(), value.begin(), value.end());
    return u8(0);
  }
  ByteWriter& all(const std::vector<std::uint8_t>& other) {
    bytes.insert(bytes.end(), other.begin(), other.end());
    return *this;
  }
  // Writes the length of what comes behind it, of four bytes, in front.
  static std::vector<std::uint8_t> with_length(const ByteWriter& content) {
    ByteWriter whole;
    whole.u32(content.bytes.size()).all(content.bytes);
    return whole.bytes;
  }
};

struct ElfSection {
  std::string name;
  std::uint32_t type = 1;
  std::uint64_t flags = 0;
  std::uint64_t vaddr = 0;
  std::vector<std::uint8_t> bytes;
  std::uint32_t link = 0;
  std::uint64_t stated_size = UINT64_MAX;    // UINT64_MAX: that of the bytes
  std::uint64_t stated_offset = UINT64_MAX;  // UINT64_MAX: where the bytes are
};
struct ElfSegment {
  std::uint32_t type = 1;
  std::uint32_t flags = 5;
  std::uint64_t offset = 0, vaddr = 0, file_size = 0, memory_size = 0;
};

// Sections count from 1 as they are given; the table of their names is the last.
inline std::vector<std::uint8_t> elf_file(const std::vector<ElfSection>& sections,
                                          const std::vector<ElfSegment>& segments = {},
                                          std::uint16_t machine = 62) {
  ByteWriter names, content;
  names.u8(0);
  constexpr std::uint64_t kHeader = 64, kSegment = 56;
  const std::uint64_t content_at = kHeader + kSegment * segments.size();
  std::vector<std::uint64_t> name_at, offset;
  for (const ElfSection& section : sections) {
    name_at.push_back(names.bytes.size());
    names.text(section.name);
    while ((content_at + content.bytes.size()) % 8 != 0) content.u8(0);
    offset.push_back(content_at + content.bytes.size());
    content.all(section.bytes);
  }
  const std::uint64_t own_name = names.bytes.size();
  names.text(".shstrtab");
  const std::uint64_t names_offset = content_at + content.bytes.size();
  content.all(names.bytes);

  ByteWriter file;
  file.u32(0x464c457f).u8(2).u8(1).u8(1).number(0, 8).u8(0);
  file.u16(3).u16(machine).u32(1).u64(0);
  file.u64(segments.empty() ? 0 : kHeader).u64(content_at + content.bytes.size()).u32(0);
  file.u16(64).u16(56).u16(segments.size()).u16(64).u16(sections.size() + 2).u16(sections.size() + 1);
  for (const ElfSegment& segment : segments)
    file.u32(segment.type)
        .u32(segment.flags)
        .u64(segment.offset)
        .u64(segment.vaddr)
        .u64(segment.vaddr)
        .u64(segment.file_size)
        .u64(segment.memory_size)
        .u64(0x1000);
  file.all(content.bytes);
  const auto header = [&](std::uint64_t name, std::uint64_t type, std::uint64_t flags, std::uint64_t vaddr,
                          std::uint64_t at, std::uint64_t size, std::uint64_t link) {
    file.u32(name).u32(type).u64(flags).u64(vaddr).u64(at).u64(size).u32(link).u32(0).u64(1).u64(0);
  };
  header(0, 0, 0, 0, 0, 0, 0);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const ElfSection& section = sections[i];
    header(name_at[i], section.type, section.flags, section.vaddr,
           section.stated_offset == UINT64_MAX ? offset[i] : section.stated_offset,
           section.stated_size == UINT64_MAX ? section.bytes.size() : section.stated_size, section.link);
  }
  header(own_name, 3, 0, 0, names_offset, names.bytes.size(), 0);
  return file.bytes;
}

}  // namespace profd::test
