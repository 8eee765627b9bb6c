#include "formats/jfr/chunk.h"

#include <limits>

#include <fmt/format.h>

#include "formats/support/byte_cursor.h"

namespace profd::jfr {
namespace {

__extension__ typedef __int128 Wide;

std::int64_t clamp(Wide value) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (value > Limits::max()) return Limits::max();
  if (value < Limits::min()) return Limits::min();
  return static_cast<std::int64_t>(value);
}

std::int64_t to_ns(std::int64_t ticks, std::int64_t per_second) {
  return clamp(static_cast<Wide>(ticks) * 1'000'000'000 / per_second);
}

}  // namespace

std::int64_t Chunk::time_ns(std::uint64_t ticks) const {
  const auto since = clamp(static_cast<Wide>(static_cast<std::int64_t>(ticks)) - start_ticks);
  return clamp(static_cast<Wide>(start_ns) + to_ns(since, ticks_per_second));
}

std::int64_t Chunk::span_ns(std::uint64_t ticks) const {
  return to_ns(static_cast<std::int64_t>(ticks), ticks_per_second);
}

Result<Chunk> read_chunk(std::span<const std::byte> file, std::uint64_t at) {
  const std::span<const std::byte> rest = file.subspan(static_cast<std::size_t>(at));
  ByteCursor in(rest, std::endian::big, at);
  if (in.text(4) != std::string_view("FLR\0", 4))
    return fail(rest.size() < 4 ? ErrorCode::truncated : ErrorCode::malformed,
                "a chunk does not begin with FLR and a zero byte", at);
  Chunk chunk;
  chunk.at = at;
  chunk.major = in.u16();
  chunk.minor = in.u16();
  if (!in.ok()) return fail(ErrorCode::truncated, "the chunk header ends early", at);
  if (chunk.major == 0)
    return fail(ErrorCode::unsupported,
                fmt::format("this recording has layout {}.{}, which Oracle JDK 7 and 8 wrote and profd does "
                            "not read; record with JDK 8u262 or newer",
                            chunk.major, chunk.minor),
                at);
  if (chunk.major > 2)
    return fail(
        ErrorCode::unsupported,
        fmt::format("layout {}.{} is newer than the newest that is read (2.1)", chunk.major, chunk.minor),
        at);
  const std::int64_t size = in.i64();
  in.skip(16);  // of the last checkpoint and of the metadata: find_records() meets both
  chunk.start_ns = in.i64();
  chunk.duration_ns = in.i64();
  chunk.start_ticks = in.i64();
  chunk.ticks_per_second = in.i64();
  const std::uint32_t features = in.u32();
  if (!in.ok()) return fail(ErrorCode::truncated, "the chunk header ends early", at);
  if (chunk.ticks_per_second <= 0)
    return fail(ErrorCode::malformed, "a chunk has no ticks per second", at + 56);
  if ((features & 1) == 0)
    return fail(ErrorCode::unsupported,
                "a chunk is written without compressed integers, which no known "
                "profiler does and profd does not read",
                at + 64);
  // 0: the Java VM was still writing.
  if (size < 0 || (size != 0 && static_cast<std::uint64_t>(size) < kHeaderBytes))
    return fail(ErrorCode::malformed, fmt::format("a chunk says that it has {} bytes", size), at + 8);
  chunk.complete = size != 0 && static_cast<std::uint64_t>(size) <= rest.size();
  chunk.bytes = chunk.complete ? rest.first(static_cast<std::size_t>(size)) : rest;
  return chunk;
}

bool read_record(const Chunk& chunk, std::size_t at, Record& record) {
  Wire in(chunk.bytes.subspan(at), chunk.at + at);
  const std::uint64_t size = in.varint();
  record.type = in.varint();
  if (!in.ok() || size < in.position() || size > chunk.bytes.size() - at) return false;
  record.at = at;
  record.end = at + static_cast<std::size_t>(size);
  const std::size_t body = at + in.position();
  record.body = Wire(chunk.bytes.subspan(body, record.end - body), chunk.at + body);
  return true;
}

Result<void> find_records(Chunk& chunk) {
  Record record;
  std::size_t at = kHeaderBytes;
  while (at < chunk.bytes.size() && read_record(chunk, at, record)) {
    if (record.type == 0) chunk.metadata = at;
    if (record.type == 1) chunk.checkpoints.push_back(at);
    at = record.end;
  }
  chunk.records_end = at;
  if (chunk.complete && at != chunk.bytes.size())
    return fail(ErrorCode::malformed, "a record has an impossible length", chunk.at + at);
  return {};
}

}  // namespace profd::jfr
