#include "formats/nettrace/blocks.h"

#include <array>

#include <fmt/format.h>

#include "formats/support/utf8.h"

namespace profd::nettrace {
namespace {

// Tags of the serializer.
constexpr std::uint8_t kNull = 1, kBegin = 5, kEnd = 6;
constexpr std::string_view kSerializer = "!FastSerialization.1";

// Days from 1970-01-01 in the Gregorian calendar.
std::int64_t days_from_civil(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = year / 400, year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

TraceHeader read_trace(ByteCursor& in) {
  TraceHeader header;
  std::array<std::int64_t, 8> date{};  // year, month, day of the week, day, hour, minute, second, millisecond
  for (std::int64_t& part : date) part = in.u16();
  header.start_ticks = in.i64();
  header.ticks_per_second = in.i64();
  header.pointer_size = in.i32();
  header.process_id = in.i32();
  header.n_processors = in.i32();
  header.sampling_ns = in.i32();
  if (date[0] >= 1970 && date[0] < 2200 && date[1] >= 1 && date[1] <= 12 && date[3] >= 1 && date[3] <= 31) {
    const std::int64_t hours = days_from_civil(date[0], date[1], date[3]) * 24 + date[4];
    header.start_ns = (((hours * 60 + date[5]) * 60 + date[6]) * 1000 + date[7]) * 1'000'000;
  }
  return header;
}

// The blobs of an event or metadata block.
class Blobs {
 public:
  explicit Blobs(ByteCursor block) : in_(block) {
    const std::uint16_t header_size = in_.u16();
    compressed_ = (in_.u16() & 1) != 0;
    if (header_size < 4) {
      broken_ = true;
      return;
    }
    in_.skip(header_size - 4u);
  }

  // False at the end of the block and when a blob is broken.
  bool next(EventBlob& event) {
    if (broken_ || !in_.ok() || in_.at_end()) return false;
    if (compressed_)
      read_compressed();
    else
      read_plain();
    if (!in_.ok()) return false;
    event = {metadata_ & 0x7FFFFFFFu, stack_, thread_, time_, activity_, related_, payload_};
    return true;
  }
  bool ok() const { return in_.ok() && !broken_; }
  std::uint64_t offset() const { return in_.offset(); }

 private:
  // Every field that is missing is that of the blob before.
  void read_compressed() {
    const std::uint8_t flags = in_.u8();
    if ((flags & 1) != 0) metadata_ = static_cast<std::uint32_t>(in_.varint());
    if ((flags & 2) != 0) {
      in_.varint();  // sequence number
      in_.varint();  // thread that captured it
      in_.varint();  // processor
    }
    if ((flags & 4) != 0) thread_ = static_cast<std::int64_t>(in_.varint());
    if ((flags & 8) != 0) stack_ = static_cast<std::uint32_t>(in_.varint());
    time_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(time_) + in_.varint());
    if ((flags & 16) != 0) activity_ = read_activity();
    if ((flags & 32) != 0) related_ = read_activity();
    if ((flags & 128) != 0) size_ = in_.varint();
    payload_ = in_.slice(size_);
  }

  void read_plain() {
    in_.u32();  // size of the blob
    metadata_ = in_.u32();
    in_.u32();  // sequence number
    thread_ = in_.i64();
    in_.i64();  // thread that captured it
    in_.u32();  // processor
    stack_ = in_.u32();
    time_ = in_.i64();
    activity_ = read_activity();
    related_ = read_activity();
    size_ = in_.u32();
    payload_ = in_.slice(size_);
    if (!in_.at_end()) in_.align(4);
  }

  ActivityId read_activity() {
    const std::uint64_t first = in_.u64();
    return {first, in_.u64()};
  }

  ByteCursor in_;
  ActivityId activity_{}, related_{};
  bool compressed_ = false, broken_ = false;
  std::uint32_t metadata_ = 0, stack_ = 0;
  std::int64_t thread_ = 0, time_ = 0;
  std::uint64_t size_ = 0;
  ByteCursor payload_;
};

Result<void> read_stacks(ByteCursor block, BlockVisitor& visitor) {
  const std::uint32_t first = block.u32(), count = block.u32();
  if (block.ok() && count > block.left() / 4)
    return fail(ErrorCode::malformed, "a block announces more stacks than it has bytes", block.offset());
  for (std::uint32_t i = 0; i < count && block.ok(); ++i) {
    const std::uint32_t size = block.u32();
    ByteCursor addresses = block.slice(size);
    if (block.ok()) PROFD_CHECK(visitor.stack(first + i, addresses));
  }
  return block.status("a block of stacks");
}

Result<void> read_block(std::string_view kind, ByteCursor block, BlockVisitor& visitor,
                        ReadContext& context) {
  if (kind == "StackBlock") return read_stacks(block, visitor);
  if (kind == "SPBlock") {
    visitor.sequence_point();
    return {};
  }
  const bool metadata = kind == "MetadataBlock";
  if (!metadata && kind != "EventBlock") {
    context.report.add("unknown-block", Severity::loss, "Blocks of a kind that is not known were skipped.",
                       block.offset());
    return {};
  }
  Blobs blobs(block);
  EventBlob event;
  while (blobs.next(event)) PROFD_CHECK(metadata ? visitor.metadata(event) : visitor.event(event));
  if (!blobs.ok())
    return fail(ErrorCode::malformed, "an event reaches past the end of its block", blobs.offset());
  return {};
}

}  // namespace

std::string read_text(ByteCursor& in) {
  std::string out;
  for (;;) {
    std::uint32_t unit = in.u16();
    if (!in.ok() || unit == 0) return out;
    if (unit >= 0xD800 && unit <= 0xDFFF) {
      ByteCursor ahead = in;
      const std::uint32_t low = unit < 0xDC00 ? ahead.u16() : 0;
      if (low >= 0xDC00 && low <= 0xDFFF) {
        in = ahead;
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
      } else {
        unit = 0xFFFD;
      }
    }
    append_utf8(out, unit);
  }
}

Result<void> walk(std::span<const std::byte> bytes, BlockVisitor& visitor, ReadContext& context) {
  ByteCursor in(bytes);
  if (in.text(8) != "Nettrace") return fail(ErrorCode::malformed, "the file does not begin with Nettrace", 0);
  const std::uint32_t length = in.u32();
  if (in.ok() && length == 0) {
    const std::uint32_t major = in.u32();
    return fail(ErrorCode::unsupported,
                fmt::format("version {} of the nettrace format is not read; up to version 5 is", major), 8);
  }
  if (!in.ok() || in.text(length) != kSerializer)
    return fail(in.ok() ? ErrorCode::malformed : ErrorCode::truncated,
                "the name of the serializer is missing", 8);
  bool has_trace = false;
  const auto cut_off = [&]() -> Result<void> {
    if (!has_trace) return fail(ErrorCode::truncated, "the file ends before its first block", in.offset());
    context.report.add(
        "truncated", Severity::loss,
        "The file ends early: events are missing, and often the names of methods, which come last.",
        in.offset());
    return {};
  };
  for (std::uint64_t n = 0;; ++n) {
    PROFD_CHECK(context.stop.status());
    if (context.progress) context.progress(in.offset(), bytes.size());
    const std::uint64_t place = in.offset();
    const std::uint8_t tag = in.u8();
    if (!in.ok()) return cut_off();
    if (tag == kNull) return {};
    const std::uint8_t type = in.u8(), type_of_type = in.u8();
    in.u32();  // version
    const std::uint32_t least_version = in.u32();
    const std::uint32_t name_size = in.u32();
    if (!in.ok()) return cut_off();
    if (tag != kBegin || type != kBegin || type_of_type != kNull || name_size > 256)
      return fail(ErrorCode::malformed, "a block does not begin as blocks do", place);
    const std::string_view kind = in.text(name_size);
    const std::uint8_t end_of_type = in.u8();
    if (!in.ok()) return cut_off();
    if (end_of_type != kEnd) return fail(ErrorCode::malformed, "the type of a block does not end", place);
    if (kind == "Trace") {
      if (least_version > 5)
        return fail(
            ErrorCode::unsupported,
            fmt::format("the file needs a reader of version {}; up to version 5 is read", least_version),
            place);
      const TraceHeader header = read_trace(in);
      if (!in.ok()) return cut_off();
      if (header.pointer_size != 4 && header.pointer_size != 8)
        return fail(ErrorCode::malformed, fmt::format("a pointer has {} bytes", header.pointer_size), place);
      visitor.trace(header);
      has_trace = true;
    } else {
      if (!has_trace)
        return fail(ErrorCode::malformed, "a block stands before the header of the trace", place);
      const std::uint32_t size = in.u32();
      if (in.ok()) in.align(4);
      ByteCursor block = in.slice(size);
      if (!in.ok()) return cut_off();
      auto done = read_block(kind, block, visitor, context);
      if (!done) return tl::unexpected<Error>(std::move(done).error().in(fmt::format("{} {}", kind, n)));
    }
    const std::uint8_t end = in.u8();
    if (!in.ok()) return cut_off();
    if (end != kEnd)
      return fail(ErrorCode::malformed, "a block does not end where its size says", in.offset() - 1);
  }
}

}  // namespace profd::nettrace
