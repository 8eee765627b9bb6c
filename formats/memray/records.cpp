#include "formats/memray/records.h"

#include <algorithm>

#include <fmt/format.h>

namespace profd::memray {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 48;  // what a process can address

// Of the records that all versions write alike, with this or another number.
constexpr std::uint8_t kNative = 5, kMapStart = 6, kSegments = 7, kSegment = 8, kThreadName = 10,
                       kThread = 12;

}  // namespace

std::string_view name_of(Allocator allocator) {
  constexpr std::string_view kNames[] = {"",
                                         "pymalloc_free",
                                         "pymalloc_malloc",
                                         "pymalloc_calloc",
                                         "pymalloc_realloc",
                                         "free",
                                         "malloc",
                                         "realloc",
                                         "calloc",
                                         "posix_memalign",
                                         "aligned_alloc",
                                         "memalign",
                                         "valloc",
                                         "pvalloc",
                                         "mmap",
                                         "munmap"};
  return kNames[static_cast<std::size_t>(allocator)];
}

bool allocator_of(std::uint32_t version, std::uint8_t number, Allocator& out) {
  using enum Allocator;
  constexpr Allocator kOld[] = {
      malloc, malloc,  free, calloc, realloc,         posix_memalign,  aligned_alloc,    memalign,
      valloc, pvalloc, mmap, munmap, pymalloc_malloc, pymalloc_calloc, pymalloc_realloc, pymalloc_free};
  if (number < 1 || number > 15) return false;
  out = version >= kPacked ? static_cast<Allocator>(number) : kOld[number];
  return true;
}

std::int64_t Records::signed_varint() {
  const std::uint64_t value = in_.varint();
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

void Records::segment_list() {
  in_.text_to_nul();
  in_.varint();
  in_.u64();
}

Result<bool> Records::next(Record& out) {
  if (ended_ || in_.at_end()) return false;
  out = {};
  out.at = in_.offset();
  PROFD_TRY(const bool more, header_.version >= kPacked ? next_packed(out) : next_plain(out));
  if (!in_.ok()) PROFD_CHECK(in_.status("a record"));
  if (out.type == RecordType::allocation && out.size > kMostBytes)
    return fail(ErrorCode::malformed, fmt::format("an allocation of {} bytes", out.size), out.at);
  return more;
}

Result<bool> Records::next_plain(Record& out) {
  const std::uint8_t byte = in_.u8(), flags = byte >> 4;
  switch (byte & 15) {
    case 0:  // 1: the end. 0: what a file is filled with that was not ended
      ended_ = flags == 1;
      if (flags > 1)
        return fail(ErrorCode::malformed, fmt::format("a record of the unknown kind {}", byte), out.at);
      if (flags == 0) in_.skip(in_.left());
      return false;
    case 1:
    case 2:
      out.type = RecordType::allocation;
      if (!allocator_of(header_.version, flags, out.allocator))
        return fail(ErrorCode::malformed, fmt::format("an allocator of the unknown number {}", flags),
                    out.at);
      out.address = address_ += static_cast<std::uint64_t>(signed_varint());
      if ((byte & 15) == 2) {
        out.size = in_.varint();
        signed_varint();
      } else if (!is_free(out.allocator)) {
        out.size = in_.varint();
      }
      return true;
    case 3:
      out.type = RecordType::frame;
      out.id = frame_ += static_cast<std::uint64_t>(signed_varint());
      out.name = in_.text_to_nul();
      out.file = in_.text_to_nul();
      line_ = static_cast<std::int32_t>(static_cast<std::uint32_t>(line_) +
                                        static_cast<std::uint32_t>(signed_varint()));
      out.line = line_;
      return true;
    case 4:
      out.type = RecordType::push;
      out.id = frame_ += static_cast<std::uint64_t>(signed_varint());
      return true;
    case kNative:
      signed_varint(), signed_varint();
      return true;
    case kMapStart:
      return true;
    case kSegments:
      segment_list();
      return true;
    case kSegment:
      in_.u64();
      in_.varint();
      return true;
    case 9:
      out.type = RecordType::pop;
      out.count = flags + 1u;
      return true;
    case kThreadName:
      out.type = RecordType::thread_name;
      out.name = in_.text_to_nul();
      return true;
    case 11:
      out.type = RecordType::memory;
      out.size = in_.varint();
      out.ms = in_.varint();
      return true;
    case kThread:
      out.type = RecordType::thread;
      out.id = in_.u64();
      return true;
    default:
      return fail(ErrorCode::malformed, fmt::format("a record of the unknown kind {}", byte & 15), out.at);
  }
}

// "1ppppaaa": p is the place of the address among the last new ones, 15 another; a the allocator, 0 where it
// does not fit.
Result<void> Records::packed_allocation(std::uint8_t byte, Record& out) {
  out.type = RecordType::allocation;
  const std::size_t place = byte >> 3 & 15;
  if (place < recent_.size()) {
    if (place >= n_recent_)
      return fail(ErrorCode::malformed, "an allocation refers to an address that was not told", out.at);
    out.address = recent_[place];
  } else {
    out.address = address_ += static_cast<std::uint64_t>(signed_varint()) << 3;
    std::move_backward(recent_.begin(), recent_.end() - 1, recent_.end());
    recent_[0] = address_;
    n_recent_ = std::min(n_recent_ + 1, recent_.size());
  }
  std::uint8_t number = byte & 7;
  if (number == 0) number = in_.u8();
  if (!in_.ok()) return {};
  if (!allocator_of(header_.version, number, out.allocator))
    return fail(ErrorCode::malformed, fmt::format("an allocator of the unknown number {}", number), out.at);
  if (is_free(out.allocator)) return {};
  if (header_.native) signed_varint();
  out.size = in_.varint();
  return {};
}

Result<bool> Records::next_packed(Record& out) {
  std::uint8_t byte = in_.u8();
  while (byte == 0 && !in_.at_end()) byte = in_.u8();  // fills
  if (byte == 0) return false;
  if ((byte & 0x80) != 0) {
    PROFD_CHECK(packed_allocation(byte, out));
    return true;
  }
  if ((byte & 0x40) != 0) {
    out.type = RecordType::push;
    out.id = in_.varint();
    out.offset = signed_varint();
    return true;
  }
  if ((byte & 0x20) != 0)
    return fail(ErrorCode::malformed, "an object is told of, which the header did not announce", out.at);
  if ((byte & 0x10) != 0) {
    out.type = RecordType::pop;
    out.count = (byte & 15) + 1u;
    return true;
  }
  switch (byte) {
    case 1:
      ended_ = true;
      return false;
    case 2:
      out.type = RecordType::memory;
      out.size = in_.varint();
      out.ms = in_.varint();
      return true;
    case kNative:
      signed_varint(), signed_varint();
      return true;
    case kMapStart:
      return true;
    case kSegments:
      segment_list();
      return true;
    case kSegment:
      in_.u64();
      in_.varint();
      return true;
    case kThreadName:
      out.type = RecordType::thread_name;
      out.name = in_.text_to_nul();
      return true;
    case kThread:
      out.type = RecordType::thread;
      out.id = in_.u64();
      return true;
    case 14:
      out.type = RecordType::code;
      out.id = in_.varint();
      out.name = in_.text_to_nul();
      out.file = in_.text_to_nul();
      line_ = static_cast<std::int32_t>(static_cast<std::uint32_t>(line_) +
                                        static_cast<std::uint32_t>(signed_varint()));
      out.line = line_;
      out.table = in_.bytes(in_.varint());
      return true;
    default:
      return fail(ErrorCode::malformed, fmt::format("a record of the unknown kind {}", byte), out.at);
  }
}

}  // namespace profd::memray
