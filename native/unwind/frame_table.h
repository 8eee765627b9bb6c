// What .eh_frame or .debug_frame of an image says of its code: which function an address is in, and where the
// program of rules for it stands (frame_rules.h).
#pragma once

#include <cstdint>
#include <vector>

#include "native/elf/expanded.h"
#include "native/elf/image.h"

namespace profd::native {

// What the entries of several functions have in common.
struct CommonEntry {
  std::uint64_t code_unit = 1;
  std::int64_t data_unit = 1;
  std::uint64_t return_register = 0;
  unsigned encoding = 0;             // of the functions' addresses
  bool augmented = false;            // entries have a part that is to be skipped
  bool signal_frame = false;         // its caller was interrupted and made no call
  std::uint64_t begin = 0, end = 0;  // of the program that all of them begin with, in the section
};

struct FrameEntry {
  std::uint64_t begin = 0, size = 0;  // of the code; size is not 0, and begin + size does not overflow
  std::uint32_t common = 0;           // row of FrameTable::common
  std::uint64_t program = 0, program_end = 0;  // in the section
};

struct FrameTable {
  SectionBytes section;
  std::uint64_t vaddr = 0;  // of the section; 0 for .debug_frame, whose pointers are plain
  bool is_64 = true, big_endian = false;
  std::vector<CommonEntry> common;
  std::vector<FrameEntry> entries;  // by begin

  // Null where no entry covers it. Of entries that overlap, the one that begins last.
  [[nodiscard]] const FrameEntry* find(std::uint64_t at) const;
};

// Entries that are damaged, or of a kind that is not known, are left out.
FrameTable read_eh_frame(const ElfImage& image);
FrameTable read_debug_frame(const ElfImage& image);

}  // namespace profd::native
