#include "formats/xray/records.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "formats/support/byte_cursor.h"

namespace profd::xray {
namespace {

enum FunctionKind : std::uint8_t { kEntry = 0, kExit = 1, kTailExit = 2, kEntryWithArguments = 3 };
enum MetadataKind : std::uint8_t {
  kNewBuffer = 0,
  kEndOfBuffer = 1,
  kNewCpu = 2,
  kTicksWrap = 3,
  kWallTime = 4,
  kCustomEvent = 5,
  kArgument = 6,
  kBufferExtents = 7,
  kTypedEvent = 8,
  kProcess = 9,
};
constexpr std::uint64_t kBasicRecord = 32, kMetadata = 16;
constexpr std::uint32_t kMostFunctions = 1u << 28;
// Ticks in a second of a clock that there may be.
constexpr std::uint64_t kSlowest = 1'000'000, kFastest = 18'000'000'000;

Header read_header(std::span<const std::byte> bytes) {
  ByteCursor in(bytes);
  Header header;
  header.version = in.u16();
  header.type = in.u16();
  in.skip(4);
  header.frequency = in.u64();
  header.buffer_bytes = in.u64();
  return header;
}

class Reading {
 public:
  Reading(std::span<const std::byte> bytes, ReadContext& context) : in_(bytes), context_(context) {
    log_.header = read_header(bytes);
    in_.skip(kHeaderBytes);
  }

  Result<Log> run() {
    PROFD_CHECK(context_.stop.status());
    const bool basic = log_.header.type == 0;
    for (std::uint64_t n = 0; !in_.at_end(); ++n) {
      if (n % 65536 == 0) {
        PROFD_CHECK(context_.stop.status());
        if (context_.progress) context_.progress(in_.offset(), in_.offset() + in_.left());
      }
      auto done = basic ? read_basic() : read_recorded();
      if (done) continue;
      if (!context_.partial || log_.events.empty()) return tl::unexpected<Error>(std::move(done).error());
      context_.report.add("truncated", Severity::loss,
                          "the file cannot be read to its end: " + done.error().message, in_.offset());
      break;
    }
    end_block();
    std::stable_sort(log_.blocks.begin(), log_.blocks.end(),
                     [](const Block& a, const Block& b) { return a.ticks < b.ticks; });
    return std::move(log_);
  }

 private:
  std::uint32_t thread(std::int64_t pid, std::int64_t tid) {
    const auto [at, is_new] = rows_.try_emplace({pid, tid}, static_cast<std::uint32_t>(log_.threads.size()));
    if (is_new) log_.threads.push_back({pid, tid});
    return at->second;
  }

  Result<void> add(std::uint8_t kind, std::uint32_t function, std::uint32_t thread, std::uint64_t ticks,
                   std::uint64_t offset) {
    if (kind > kEntryWithArguments)
      return fail(ErrorCode::malformed, fmt::format("there is no event of kind {}", kind), offset);
    if (function == 0 || function >= kMostFunctions)
      return fail(ErrorCode::malformed, "functions are numbered from 1 to 268,435,455", offset);
    log_.events.push_back({ticks, function, thread, kind == kEntry || kind == kEntryWithArguments});
    return {};
  }

  Result<void> read_basic() {
    const std::uint64_t offset = in_.offset();
    ByteCursor in = in_.slice(kBasicRecord);
    PROFD_CHECK(in_.status("a record"));
    const std::uint16_t what = in.u16();
    in.skip(1);  // the processor
    const std::uint8_t kind = in.u8();
    const std::uint32_t function = in.u32();
    if (what == 1) return {};  // an argument of the function before it
    if (what != 0)
      return fail(ErrorCode::malformed, fmt::format("there is no record of kind {}", what), offset);
    const std::uint64_t ticks = in.u64();
    const std::uint32_t tid = in.u32();
    // Before version 3 nothing says the process.
    const std::int64_t pid = log_.header.version >= 3 ? static_cast<std::int64_t>(in.u32()) : -1;
    return add(kind, function, thread(pid, tid), ticks, offset);
  }

  void end_block() {
    if (log_.events.size() > block_begin_ || log_.blocks.empty())
      log_.blocks.push_back({block_begin_ < log_.events.size() ? log_.events[block_begin_].ticks : 0,
                             block_begin_, log_.events.size()});
    block_begin_ = log_.events.size();
  }

  // Of a buffer, which its extents have told the length of from version 2 on.
  Result<void> read_recorded() {
    const std::uint64_t offset = in_.offset();
    const bool told = log_.header.version >= 2;
    ByteCursor peek = in_;
    const std::uint8_t first = peek.u8();
    if (told && offset == buffer_end_ && first != (kBufferExtents << 1 | 1))
      return fail(ErrorCode::malformed, "a buffer does not begin with its extents", offset);
    if ((first & 1) == 0) {
      const std::uint32_t word = in_.u32(), delta = in_.u32();
      PROFD_CHECK(in_.status("an event"));
      PROFD_CHECK(within(offset));
      if (!thread_) return fail(ErrorCode::malformed, "an event comes before its buffer's thread", offset);
      ticks_ += delta;
      return add(word >> 1 & 7, word >> 4, *thread_, ticks_, offset);
    }
    ByteCursor in = in_.slice(kMetadata);
    PROFD_CHECK(in_.status("a record"));
    in.skip(1);
    PROFD_CHECK(read_metadata(first >> 1, in, offset));
    return first >> 1 == kBufferExtents ? Result<void>() : within(offset);
  }

  Result<void> within(std::uint64_t offset) const {
    if (log_.header.version >= 2 && in_.offset() > buffer_end_)
      return fail(ErrorCode::malformed, "a record reaches over the end of its buffer", offset);
    return {};
  }

  Result<void> read_metadata(std::uint8_t kind, ByteCursor& in, std::uint64_t offset) {
    switch (kind) {
      case kBufferExtents: {
        if (offset != buffer_end_ && buffer_end_ != kHeaderBytes)
          return fail(ErrorCode::malformed, "a buffer begins within another one", offset);
        const std::uint64_t bytes = in.u64();
        if (bytes > in_.left()) {
          if (!context_.partial)
            return fail(ErrorCode::truncated, "a buffer ends after the end of the file", offset);
        }
        buffer_end_ = in_.offset() + std::min<std::uint64_t>(bytes, in_.left());
        end_block();
        thread_.reset();
        return {};
      }
      case kNewBuffer:
        end_block();
        pid_ = -1;
        tid_ = in.i32();
        thread_ = thread(pid_, tid_);
        ticks_ = 0;
        return {};
      case kProcess:
        pid_ = in.i32();
        if (thread_) drop_unused();
        thread_ = thread(pid_, tid_);
        return {};
      case kWallTime: {
        const std::uint64_t seconds = in.u64();
        if (!log_.time_ns && seconds < (std::uint64_t{1} << 33))
          log_.time_ns = static_cast<std::int64_t>(seconds * 1'000'000'000);
        return {};
      }
      case kNewCpu:
        in.skip(2);
        ticks_ = in.u64();
        return {};
      case kTicksWrap:
        ticks_ = in.u64();
        return {};
      case kArgument:
        return {};
      case kCustomEvent:
      case kTypedEvent: {
        const std::int32_t bytes = in.i32();
        // From version 5 on a distance as in events; before, a time of its own.
        if (log_.header.version >= 5 || kind == kTypedEvent) ticks_ += in.u32();
        if (bytes < 0) return fail(ErrorCode::malformed, "the length of an event is negative", offset);
        in_.skip(static_cast<std::uint64_t>(bytes));
        ++log_.n_custom;
        return in_.status("an event of the program's own");
      }
      case kEndOfBuffer: {
        if (log_.header.version >= 2) break;
        const std::uint64_t size = log_.header.buffer_bytes;
        if (size == 0) return fail(ErrorCode::malformed, "buffers have no length", 16);
        const std::uint64_t used = (in_.offset() - kHeaderBytes) % size;
        in_.skip(used == 0 ? 0 : std::min<std::uint64_t>(size - used, in_.left()));
        thread_.reset();
        return {};
      }
      default:
        break;
    }
    return fail(ErrorCode::malformed,
                fmt::format("there is no record of kind {} in version {}", kind, log_.header.version),
                offset);
  }

  // A buffer says its thread before its process.
  void drop_unused() {
    if (*thread_ + 1 != log_.threads.size() || log_.threads.back().pid != -1) return;
    if (!log_.events.empty() && log_.events.back().thread == *thread_) return;
    rows_.erase({log_.threads.back().pid, log_.threads.back().tid});
    log_.threads.pop_back();
  }

  ByteCursor in_;
  ReadContext& context_;
  Log log_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> rows_;
  std::uint64_t buffer_end_ = kHeaderBytes, ticks_ = 0;
  std::size_t block_begin_ = 0;
  std::int64_t pid_ = -1, tid_ = -1;
  std::optional<std::uint32_t> thread_;
};

}  // namespace

// The header has no magic number, so its clock and the first record are looked at, too. Its flags are one
// byte of which the runtime leaves bits as they were.
bool is_xray_log(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes + kMetadata) return false;
  const Header header = read_header(bytes);
  if (header.version < 1 || header.version > 5 || header.type > 1 || header.frequency < kSlowest ||
      header.frequency > kFastest)
    return false;
  ByteCursor in(bytes);
  in.skip(kHeaderBytes);
  if (header.type == 1) return in.u8() == ((header.version >= 2 ? kBufferExtents : kNewBuffer) << 1 | 1);
  const std::uint16_t what = in.u16();
  in.skip(1);
  const std::uint8_t kind = in.u8();
  const std::uint32_t function = in.u32();
  return what == 0 && kind <= kEntryWithArguments && function > 0 && function < kMostFunctions;
}

Result<Log> read_log(std::span<const std::byte> bytes, ReadContext& context) {
  if (bytes.size() < kHeaderBytes) return fail(ErrorCode::truncated, "the header ends early", 0);
  const Header header = read_header(bytes);
  if (header.version < 1 || header.version > 5)
    return fail(ErrorCode::unsupported,
                fmt::format("version {} of XRay's log is not read, only 1 to 5", header.version), 0);
  if (header.type > 1)
    return fail(
        ErrorCode::unsupported,
        fmt::format("logs of type {} are not read, only 0 (basic) and 1 (flight data recorder)", header.type),
        2);
  if (header.frequency > kFastest)
    return fail(ErrorCode::malformed, "the clock ticks more than 18,000,000,000 times a second", 8);
  return Reading(bytes, context).run();
}

}  // namespace profd::xray
