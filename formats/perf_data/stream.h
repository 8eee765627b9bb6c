// RecordStream: cuts bytes into records, peels the compressed ones, and hands them to a session in the order
// of time.
#pragma once

#include <cstdint>
#include <span>

#include "formats/perf_data/inflater.h"
#include "formats/perf_data/record_queue.h"
#include "formats/perf_data/session.h"

namespace profd::perf_data {

class RecordStream {
 public:
  // `in_rounds`: all records come through this stream, so that a finished round is one. Otherwise several
  // streams fill the queue, and all must live until it is emptied.
  RecordStream(ReadContext& context, Session& session, RecordQueue& queue, bool in_rounds)
      : context_(context),
        session_(session),
        queue_(queue),
        in_rounds_(in_rounds),
        inflater_(context.limits) {}

  // `base`: of the first byte in the file, which has `file_size` bytes. `may_be_cut`: the recording was not
  // closed, so that its last record may be half there.
  Result<void> read(std::span<const std::byte> bytes, std::uint64_t base, bool may_be_cut);
  // What still waits.
  Result<void> finish();

 private:
  struct Place {
    std::uint64_t base = 0;
    bool compressed = false;  // `base` is that of the record the bytes came from
  };
  // Reads whole records; returns how many bytes they had.
  Result<std::size_t> read_records(std::span<const std::byte> bytes, const Place& place);
  Result<void> read_one(const RecordHeader& header, std::span<const std::byte> record, std::uint64_t offset);
  Result<void> inflate(const RecordHeader& header, std::span<const std::byte> record, std::uint64_t offset);
  void report_cut(std::uint64_t offset);
  Result<void> deliver(const QueuedRecord& record);

  ReadContext& context_;
  Session& session_;
  RecordQueue& queue_;
  bool in_rounds_;
  Inflater inflater_;
  std::uint64_t reported_ = 0;
};

}  // namespace profd::perf_data
