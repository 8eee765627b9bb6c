// An ELF file as its headers describe it: what is loaded where, and its sections. Reading takes time and
// memory by the number of headers, not by the size of the file, and follows no offset that leads out of it.
//
// "vaddr" is an address as the file's own headers number it, which is what nm prints; profiles are asked by
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "native/elf/bytes.h"
#include "native/machine.h"

namespace profd::native {

inline constexpr std::size_t kMaxSections = 1u << 20;
inline constexpr std::size_t kMaxSegments = 1u << 16;

// A PT_LOAD.
struct Segment {
  std::uint64_t vaddr = 0;
  std::uint64_t memory_size = 0;
  std::uint64_t offset = 0;     // in the file
  std::uint64_t file_size = 0;  // 0 in a file of debug information alone
  bool executable = false;
};

struct Section {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t vaddr = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // in memory; the bytes in the file may be compressed or none (has_bytes)
  std::uint32_t link = 0;
  std::uint64_t entry_size = 0;

  bool has_bytes() const { return type != 8; }          // SHT_NOBITS
  bool executable() const { return (flags & 4) != 0; }  // SHF_EXECINSTR
  bool loaded() const { return (flags & 2) != 0; }      // SHF_ALLOC
  bool compressed() const { return (flags & 0x800) != 0; }
};

struct ElfImage {
  Bytes bytes;
  bool is_64 = true;
  bool big_endian = false;
  bool relocatable = false;  // ET_REL: an object file or a kernel module, addresses count from its sections
  Machine machine = Machine::other;
  std::uint64_t entry = 0;
  std::vector<Segment> segments;  // in the order of the file
  std::vector<Bytes> notes;       // PT_NOTE
  std::vector<Section> sections;  // the first is the empty one

  ByteReader reader(Bytes of, std::uint64_t at = 0) const { return ByteReader(of, big_endian, at); }
};

// `bytes` must outlive the image. Malformed where the headers contradict themselves, unsupported for what is
// no ELF file.
Result<ElfImage> read_elf(Bytes bytes);

// The first section of that name, or null.
const Section* find_section(const ElfImage& image, std::string_view name);

// The section's bytes as they lie in the file: cut where the file ends, empty where there are none.
Bytes raw_bytes(const ElfImage& image, const Section& section);

// Raw bytes of NT_GNU_BUILD_ID, of the sections or else of the segments; empty where there is none.
Bytes build_id(const ElfImage& image);
std::string hex(Bytes bytes);

// Where a byte of the file is loaded: `offset` is that of a mapping (rounded to pages) or of a sample. In a
// file of debug information alone (no segment has bytes) offsets mean nothing: the executable segment is
// taken for the one that was meant.
std::optional<std::uint64_t> vaddr_of_offset(const ElfImage& image, std::uint64_t offset);

// The bytes loaded at `vaddr`, at most `size`; fewer where the segment ends, none where nothing is loaded
// from the file.
Bytes bytes_at(const ElfImage& image, std::uint64_t vaddr, std::uint64_t size);

// [begin, end) of what holds instructions, sorted, not touching: the executable sections, or segments where
// there are none.
struct VaddrRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
std::vector<VaddrRange> executable_ranges(const ElfImage& image);

}  // namespace profd::native
