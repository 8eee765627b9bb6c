#include "formats/perf_data/stream.h"

#include <algorithm>

#include <fmt/format.h>

namespace profd::perf_data {
namespace {

RecordHeader read_header(ByteCursor& in) {
  RecordHeader header;
  header.type = in.u32();
  header.misc = in.u16();
  header.size = in.u16();
  return header;
}

// Bytes that follow a record without being part of it.
std::uint64_t appended_size(const RecordHeader& header, ByteCursor body) {
  if (header.type == kTracingData) return (std::uint64_t{body.u32()} + 7) / 8 * 8;
  if (header.type == kAuxtrace) return body.u64();
  return 0;
}

// Perf fills compressed records up to eight bytes in a write of its own, which a pipe that ends there lacks.
bool only_lacks_padding(const RecordHeader& header, ByteCursor body) {
  constexpr std::size_t kAligned = 8;
  if (header.type != kCompressed2 || header.size - kRecordHeaderSize - body.left() >= kAligned) return false;
  const std::uint64_t size = body.u64();
  return body.ok() && size <= body.left();
}

}  // namespace

Result<void> RecordStream::read(std::span<const std::byte> bytes, std::uint64_t base, bool may_be_cut) {
  auto used = read_records(bytes, {base, false});
  std::optional<Error> error;
  if (!used)
    error = std::move(used.error());
  else if (*used < bytes.size() && !may_be_cut)
    error = Error{ErrorCode::truncated, "the file ends inside a record", base + *used, {}};
  if (error) {
    const bool readable = error->code == ErrorCode::truncated || error->code == ErrorCode::malformed;
    if (!context_.partial || !readable) return tl::unexpected<Error>(std::move(*error));
    context_.report.add("truncated", Severity::error, error->message + "; what came before was read",
                        error->offset);
  } else if (*used < bytes.size()) {
    report_cut(base + *used);
  }
  // A record that began in the last payload and would go on in the next.
  if (!error && inflater_.n_kept() > 0) report_cut(base + bytes.size());
  return {};
}

void RecordStream::report_cut(std::uint64_t offset) {
  context_.report.add("cut-record", Severity::info, "the last record was not written to its end", offset);
}

Result<std::size_t> RecordStream::read_records(std::span<const std::byte> bytes, const Place& place) {
  std::size_t at = 0;
  while (bytes.size() - at >= kRecordHeaderSize) {
    const std::uint64_t offset = place.compressed ? place.base : place.base + at;
    ByteCursor in(bytes.subspan(at), session_.order(), offset);
    const RecordHeader header = read_header(in);
    if (header.size < kRecordHeaderSize)
      return fail(ErrorCode::malformed, fmt::format("a record of {} bytes", header.size), offset);
    const std::size_t left = bytes.size() - at;
    const std::size_t size = std::min<std::size_t>(header.size, left);
    ByteCursor body = in.slice(size - kRecordHeaderSize);
    if (size < header.size && !only_lacks_padding(header, body)) break;
    const std::uint64_t appended = appended_size(header, body);
    if (appended > left - size) break;
    const auto record = bytes.subspan(at, size);
    at += size + static_cast<std::size_t>(appended);
    if (header.type == kCompressed || header.type == kCompressed2) {
      if (place.compressed)
        return fail(ErrorCode::malformed, "compressed records inside of compressed records", offset);
      PROFD_CHECK(inflate(header, record, offset));
    } else {
      PROFD_CHECK(read_one(header, record, offset));
    }
    if (place.compressed || offset - reported_ < (8u << 20)) continue;
    reported_ = offset;
    PROFD_CHECK(context_.stop.status());
    if (context_.progress) context_.progress(at, bytes.size());
  }
  return at;
}

Result<void> RecordStream::inflate(const RecordHeader& header, std::span<const std::byte> record,
                                   std::uint64_t offset) {
  auto payload = record.subspan(kRecordHeaderSize);
  if (header.type == kCompressed2) {
    ByteCursor in(payload, session_.order(), offset);
    const std::uint64_t size = in.u64();
    payload = in.bytes(size);
    if (!in.ok())
      return fail(ErrorCode::malformed, "compressed records are longer than their record", offset);
  }
  PROFD_TRY(const auto bytes, inflater_.add(payload, offset));
  PROFD_TRY(const std::size_t used, read_records(bytes, {offset, true}));
  inflater_.keep(bytes.size() - used);
  if (in_rounds_) inflater_.release(queue_.first_offset());
  return {};
}

Result<void> RecordStream::read_one(const RecordHeader& header, std::span<const std::byte> record,
                                    std::uint64_t offset) {
  const auto hand_over = [this](const QueuedRecord& queued) { return deliver(queued); };
  if (header.type == kFinishedRound) return in_rounds_ ? queue_.finish_round(hand_over) : Result<void>{};
  if (header.type == kAuxtrace) session_.count_trace(offset);
  const ByteCursor body(record.subspan(kRecordHeaderSize), session_.order(), offset);
  const std::uint64_t time = session_.time_of(header, body);
  if (time == 0) return session_.handle(header, body, offset);
  queue_.add({time, record.data(), offset});
  return {};
}

Result<void> RecordStream::deliver(const QueuedRecord& queued) {
  ByteCursor in({queued.data, kRecordHeaderSize}, session_.order(), queued.offset);
  const RecordHeader header = read_header(in);
  const std::span<const std::byte> record(queued.data, header.size);
  return session_.handle(
      header, ByteCursor(record.subspan(kRecordHeaderSize), session_.order(), queued.offset), queued.offset);
}

Result<void> RecordStream::finish() {
  return queue_.finish([this](const QueuedRecord& queued) { return deliver(queued); });
}

}  // namespace profd::perf_data
