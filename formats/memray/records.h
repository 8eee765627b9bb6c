// The records of a recording of all allocations, one at a time, with what is written as a difference put
// together. Two encodings: versions 8 to 11, and from 12 on.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/memray/header.h"

namespace profd::memray {

// As versions from 12 on number them.
enum class Allocator : std::uint8_t {
  pymalloc_free = 1,
  pymalloc_malloc,
  pymalloc_calloc,
  pymalloc_realloc,
  free,
  malloc,
  realloc,
  calloc,
  posix_memalign,
  aligned_alloc,
  memalign,
  valloc,
  pvalloc,
  mmap,
  munmap,
};
std::string_view name_of(Allocator allocator);
inline bool is_free(Allocator a) {
  return a == Allocator::pymalloc_free || a == Allocator::free;
}
// By the number that the version gives it; false for one that it does not have.
bool allocator_of(std::uint32_t version, std::uint8_t number, Allocator& out);

enum class RecordType : std::uint8_t {
  allocation,   // address, size (0 of a free), allocator
  push,         // id: a frame (to 11), or code and offset (from 12)
  pop,          // count
  thread,       // id: whose the records are from here on
  thread_name,  // name
  memory,       // size: resident bytes, ms: since the start
  frame,        // id, name, file, line
  code,         // id, name, file, line: the first, table
  native,       // nothing of it is read
};

struct Record {
  RecordType type = RecordType::native;
  Allocator allocator = Allocator::malloc;
  std::uint64_t id = 0, address = 0, size = 0, ms = 0, count = 0;
  std::int64_t line = 0, offset = 0;
  std::string_view name, file;
  std::span<const std::byte> table;
  std::uint64_t at = 0;  // in the file
};

class Records {
 public:
  Records(ByteCursor in, const Header& header) : in_(in), header_(header) {}

  // False at the end. Fails with `truncated` when the bytes end within a record.
  Result<bool> next(Record& out);
  // The recording was ended, not broken off.
  bool ended() const { return ended_; }
  std::uint64_t offset() const { return in_.offset(); }

 private:
  Result<bool> next_plain(Record& out);
  Result<bool> next_packed(Record& out);
  Result<void> packed_allocation(std::uint8_t byte, Record& out);
  void segment_list();
  std::int64_t signed_varint();

  ByteCursor in_;
  Header header_;
  bool ended_ = false;
  std::uint64_t address_ = 0, frame_ = 0;
  std::int64_t line_ = 0;
  // The last addresses that were new, the newest first.
  std::array<std::uint64_t, 15> recent_{};
  std::size_t n_recent_ = 0;
};

}  // namespace profd::memray
