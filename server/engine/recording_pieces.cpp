#include "server/engine/recording_pieces.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "formats/perf_data/record.h"

namespace profd {
namespace {

constexpr std::size_t kToTellLine = std::size_t{64} << 10;

Error too_large(std::string_view what) {
  return {ErrorCode::limit,
          fmt::format("{} is larger than {} MiB, the most that is kept of a recording that grows", what,
                      RecordingPieces::kMostOfPiece >> 20),
          std::nullopt,
          {}};
}

// Folded stacks and the text of Austin: a sample a line; lines with # before the first sample are the head.
class Lines final : public RecordingPieces {
 public:
  Result<void> feed(std::string_view bytes) override {
    if (bytes_.size() + bytes.size() > kMostOfPiece)
      return tl::unexpected<Error>(too_large("what came in a moment"));
    bytes_ += bytes;
    return {};
  }

  void end() override {
    if (!bytes_.empty()) bytes_ += '\n';
  }

  std::string take() override {
    const std::size_t end = bytes_.rfind('\n');
    if (end == std::string::npos) return {};
    std::string lines = bytes_.substr(0, end + 1);
    bytes_.erase(0, end + 1);
    while (lines.starts_with('#') || lines.starts_with('\n')) {
      const std::size_t line = lines.find('\n') + 1;
      if (head_.size() + line <= kMostOfHead) head_ += lines.substr(0, line);
      lines.erase(0, line);
    }
    return lines.empty() ? lines : head_ + lines;
  }

 private:
  static constexpr std::size_t kMostOfHead = std::size_t{64} << 10;
  std::string bytes_, head_;
};

// What perf writes into a pipe: a head of sixteen bytes and records. All but samples are kept: what is loaded
// where, who runs what.
class PerfRecords final : public RecordingPieces {
 public:
  static constexpr std::string_view kMagic = "PERFILE2";
  static constexpr std::size_t kHead = 16;

  Result<void> feed(std::string_view bytes) override {
    if (bytes_.size() + bytes.size() > kMostOfPiece)
      return tl::unexpected<Error>(too_large("what came in a moment"));
    bytes_ += bytes;
    std::size_t at = 0;
    if (kept_.empty()) {
      if (bytes_.size() < kHead) return {};
      kept_ = bytes_.substr(0, kHead);
      at = kHead;
    }
    while (bytes_.size() - at >= perf_data::kRecordHeaderSize) {
      perf_data::RecordHeader header;
      std::memcpy(&header, bytes_.data() + at, sizeof(header));
      if (header.size < perf_data::kRecordHeaderSize)
        return fail(ErrorCode::malformed, "a record of perf is shorter than its head");
      PROFD_TRY(const std::size_t behind, behind_record(at, header));
      const std::size_t size = header.size + behind;
      if (bytes_.size() - at < size) break;
      take_record(header, std::string_view(bytes_).substr(at, size));
      at += size;
    }
    bytes_.erase(0, at);
    if (kept_.size() + samples_.size() > kMostOfPiece)
      return tl::unexpected<Error>(too_large("what perf tells of programs and their files"));
    return {};
  }

  std::string take() override {
    if (n_samples_ == 0) return {};
    n_samples_ = 0;
    return kept_ + std::exchange(samples_, {});
  }

 private:
  // Bytes that follow a record and are none.
  Result<std::size_t> behind_record(std::size_t at, const perf_data::RecordHeader& header) const {
    if (header.type == perf_data::kCompressed || header.type == perf_data::kCompressed2)
      return fail(ErrorCode::unsupported, "perf record -z cannot be followed live: leave -z out");
    if (header.type == perf_data::kAuxtrace)
      return fail(ErrorCode::unsupported, "traces of the processor cannot be followed live: record samples");
    if (header.type != perf_data::kTracingData) return std::size_t{0};
    std::uint32_t size = 0;
    if (header.size < perf_data::kRecordHeaderSize + sizeof(size) || bytes_.size() - at < header.size)
      return std::size_t{0};
    std::memcpy(&size, bytes_.data() + at + perf_data::kRecordHeaderSize, sizeof(size));
    return (std::size_t{size} + 7) / 8 * 8;
  }

  void take_record(const perf_data::RecordHeader& header, std::string_view record) {
    switch (header.type) {
      case perf_data::kSample:
        ++n_samples_;
        samples_ += record;
        return;
      // Of that time alone.
      case perf_data::kLost:
      case perf_data::kLostSamples:
      case perf_data::kThrottle:
      case perf_data::kUnthrottle:
      case perf_data::kSwitch:
      case perf_data::kSwitchCpuWide:
      case perf_data::kExit:
        samples_ += record;
        return;
      case perf_data::kFinishedRound:
      case perf_data::kFinishedInit:
        return;
      default:
        kept_ += record;
    }
  }

  std::string bytes_, kept_, samples_;
  std::uint64_t n_samples_ = 0;
};

bool is_text(std::string_view begin) {
  return std::all_of(begin.begin(), begin.end(),
                     [](char c) { return c == '\n' || c == '\r' || c == '\t' || c < 0 || c >= ' '; });
}

bool is_folded_line(std::string_view line) {
  const std::size_t space = line.rfind(' ');
  return space != std::string_view::npos && space + 1 < line.size() &&
         line.find_first_not_of("0123456789.", space + 1) == std::string_view::npos;
}

}  // namespace

bool grows_by_pieces(std::string_view begin) {
  if (begin.starts_with(PerfRecords::kMagic)) return true;
  if (!is_text(begin)) return false;
  while (begin.starts_with('#') || begin.starts_with('\n')) {
    const std::size_t line = begin.find('\n');
    if (line == std::string_view::npos) return true;  // a head, and no sample yet
    begin.remove_prefix(line + 1);
  }
  return begin.empty() || is_folded_line(begin.substr(0, begin.find('\n')));
}

Result<std::unique_ptr<RecordingPieces>> pieces_of(std::string_view begin, bool whole) {
  if (begin.starts_with(PerfRecords::kMagic)) {
    if (begin.size() < PerfRecords::kHead) return std::unique_ptr<RecordingPieces>();
    std::uint64_t size = 0;
    std::memcpy(&size, begin.data() + PerfRecords::kMagic.size(), sizeof(size));
    if constexpr (std::endian::native != std::endian::little) size = 0;
    if (size != PerfRecords::kHead)
      return fail(
          ErrorCode::unsupported,
          "a file of perf is whole only at its end: write into a pipe, perf record -o - … | profd live -");
    return std::make_unique<PerfRecords>();
  }
  if (begin.find('\n') == std::string_view::npos && begin.size() < kToTellLine && !whole && is_text(begin))
    return std::unique_ptr<RecordingPieces>();
  if (is_text(begin) && !begin.empty()) return std::make_unique<Lines>();
  return fail(
      ErrorCode::unsupported,
      "it is nothing that can be read as it comes: a pipe of perf record -o -, folded stacks or the text "
      "of austin can");
}

}  // namespace profd
