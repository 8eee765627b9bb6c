// TACH, the binary recording (`python -m profiling.sampling run --binary`): a header of 64 bytes, samples as
// what changed on each thread's stack, tables of texts and frames, statistics, a footer.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/support/byte_cursor.h"
#include "formats/support/zstd.h"
#include "formats/tachyon/forms.h"
#include "formats/tachyon/tables.h"

namespace profd::tachyon {
namespace {

constexpr std::uint64_t kHeaderBytes = 64, kFooterBytes = 32, kStatisticsEnd = 16;
constexpr std::uint64_t kLongestUs = std::uint64_t{1} << 52;  // in nanoseconds 64 bits still

struct Header {
  std::uint64_t start_us, interval_us, n_samples, strings, frames;
  std::uint32_t n_threads, compression, flags;
  std::string python;
};

enum Kind : std::uint8_t { repeat, full, suffix, pop_push };
enum Status : std::uint8_t { has_gil = 1, on_cpu = 2, cpu_unknown = 4, wants_gil = 8, exception = 16 };
enum Mode : std::uint32_t { mode_cpu = 2, mode_all = 4 };

struct Thread {
  ThreadId id;
  std::uint64_t time_us = 0;          // of its last sample, since the start
  std::vector<ContextId> stack;       // root first
  std::vector<std::uint8_t> opcodes;  // of its frames
  bool started = false;
};

class RecordingReading {
 public:
  RecordingReading(const ByteSource& source, ReadContext& context, ProfileBuilder& builder)
      : source_(source), context_(context), builder_(builder) {}

  Result<void> run() {
    const auto bytes = source_.bytes();
    const bool big = bytes.size() >= 4 && bytes[0] == std::byte{'T'};
    order_ = big ? std::endian::big : std::endian::little;
    PROFD_TRY(const Header header, read_header());
    PROFD_CHECK(read_tail(header));
    declare(header);
    PROFD_TRY(ByteCursor in, samples_of(header));
    while (!in.at_end()) {
      const std::uint64_t at = in.offset();
      if (auto read = record(in); !read) {
        const bool cut = read.error().code == ErrorCode::truncated;
        if (!cut || !context_.partial) return read;
        context_.report.add("truncated", Severity::loss, "The samples end within a record.", at);
        break;
      }
    }
    if (n_samples_ != header.n_samples)
      context_.report.add(
          "other-number-of-samples", Severity::loss,
          fmt::format("The recording counts {} samples and has {}.", header.n_samples, n_samples_));
    if (threads_.size() != header.n_threads)
      context_.report.add("other-number-of-threads", Severity::info,
                          fmt::format("The recording counts {} threads and has samples of {}.",
                                      header.n_threads, threads_.size()));
    if (n_samples_ == 0) context_.report.add("no-samples", Severity::info, "The recording has no samples.");
    builder_.set_n_samples(n_samples_);
    return {};
  }

 private:
  Result<Header> read_header() {
    ByteCursor in(source_.bytes(), order_);
    const std::span<const std::byte> head = in.bytes(kHeaderBytes);
    PROFD_CHECK(in.status("the header"));
    if (std::all_of(head.begin(), head.end(), [](std::byte b) { return b == std::byte{0}; }))
      return fail(ErrorCode::truncated,
                  "the recording was not ended: its header is empty, and without the tables that are written "
                  "last nothing in it has a name",
                  0);
    in.seek(0);
    const std::string_view magic = in.text(4);
    const std::uint32_t version = in.u32();
    if (magic != "HCAT" && magic != "TACH")
      return fail(ErrorCode::malformed, "the file begins neither with HCAT nor with TACH", 0);
    if (version != 1)
      return fail(ErrorCode::unsupported,
                  fmt::format("version {} of the recording is not read, only version 1", version), 4);
    Header h;
    const unsigned major = in.u8(), minor = in.u8(), micro = in.u8();
    in.u8();
    h.python = fmt::format("{}.{}.{}", major, minor, micro);
    h.start_us = in.u64();
    h.interval_us = in.u64();
    h.n_samples = in.u64();
    h.n_threads = in.u32();
    h.strings = in.u64();
    h.frames = in.u64();
    h.compression = in.u32();
    h.flags = in.u32();
    if (h.compression > 1)
      return fail(ErrorCode::unsupported,
                  fmt::format("compression {} is not known, only none and zstd", h.compression), 56);
    if (h.strings < kHeaderBytes || h.frames < h.strings)
      return fail(ErrorCode::malformed, "the tables lie in front of what they follow", 40);
    return h;
  }

  // What lies behind the samples. A file that was cut has none of the names, whatever else it has.
  Result<void> read_tail(const Header& h) {
    const std::uint64_t size = source_.bytes().size();
    const std::uint64_t end = size < kFooterBytes ? 0 : size - kFooterBytes;
    if (h.frames > end)
      return fail(
          ErrorCode::truncated,
          fmt::format("the file ends at byte {}, and the names of its frames, which are written last, "
                      "begin at byte {}",
                      size, h.frames),
          size);
    ByteCursor footer(source_.bytes().subspan(end), order_, end);
    const std::uint32_t n_strings = footer.u32(), n_frames = footer.u32();
    const std::uint64_t stated = footer.u64();
    if (stated != size)
      return fail(
          ErrorCode::truncated,
          fmt::format("the file has {} bytes and should end with their number, which is missing: it was "
                      "cut off",
                      size),
          size);
    const auto between = [&](std::uint64_t from, std::uint64_t to) {
      return ByteCursor(source_.bytes().subspan(from, to - from), order_, from);
    };
    PROFD_TRY(frames_, read_tables(between(h.strings, h.frames), n_strings, between(h.frames, end), n_frames,
                                   builder_));
    if (frames_.n_of_profiler > 0)
      context_.report.add("frames-of-profiler", Severity::info,
                          "Frames of the profiler itself are left out, as in its own outputs.", std::nullopt,
                          frames_.n_of_profiler);
    read_statistics(h, end);
    return {};
  }

  // Duration and rate, then what went wrong; ends with a mark, a version and its own length.
  void read_statistics(const Header& h, std::uint64_t end) {
    if (end - h.frames < kStatisticsEnd) return;
    ByteCursor mark(source_.bytes().subspan(end - kStatisticsEnd, kStatisticsEnd), order_);
    if (mark.text(8) != "TACHSTAT" || mark.u32() != 1) return;
    const std::uint32_t size = mark.u32();
    if (size < 32 || size > end - h.frames) return;
    ByteCursor in(source_.bytes().subspan(end - size, size), order_);
    const double seconds = in.f64();
    in.f64();
    if (seconds > 0 && seconds < 1e9)
      builder_.info().duration_ns = static_cast<std::int64_t>(std::llround(seconds * 1e9));
    if (size < 48) return;
    const double errors = in.f64(), missed = in.f64();
    const auto say = [&](std::string_view key, double percent) {
      if (percent >= 0 && percent <= 100)
        builder_.info().properties.emplace_back(key, fmt::format("{:.2f} %", percent));
    };
    say("failed_samples", errors);
    say("missed_samples", missed);
  }

  void declare(const Header& h) {
    ProfileInfo& info = builder_.info();
    info.producer = "profiling.sampling of CPython " + h.python;
    builder_.add_metric("samples", "count");
    if (h.interval_us > 0 && h.interval_us < kLongestUs) {
      builder_.add_metric("time", "nanoseconds");
      interval_ns_ = static_cast<std::int64_t>(h.interval_us * 1000);
      info.period = interval_ns_;
      info.period_type = "time";
      info.period_unit = "nanoseconds";
    } else {
      context_.report.add("no-interval", Severity::loss,
                          "The recording does not say how often it sampled: there is no time.", 20);
    }
    // Three bits of the field are the mode, from 1 on; 0 where it is not told.
    const std::uint32_t mode = h.flags & 7;
    measures_cpu_ = mode == mode_cpu || mode == mode_all;
    if (const std::string_view name = mode_name(mode); !name.empty())
      info.properties.emplace_back("mode", name);
  }

  Result<ByteCursor> samples_of(const Header& h) {
    const auto bytes = source_.bytes().subspan(kHeaderBytes, h.strings - kHeaderBytes);
    if (h.compression == 0 || bytes.empty()) return ByteCursor(bytes, order_, kHeaderBytes);
    const std::uint64_t by_ratio = (bytes.size() + 64) * context_.limits.expansion_ratio;
    ExpandOptions options;
    options.limit = within_memory(by_ratio < context_.limits.expanded_bytes
                                      ? ExpansionLimit{by_ratio, "expansion_ratio"}
                                      : ExpansionLimit{context_.limits.expanded_bytes, "expanded_bytes"});
    options.partial = context_.partial;
    options.stop = context_.stop;
    auto expanded = unzstd(bytes, options, context_.report);
    if (!expanded) {
      Error error = std::move(expanded).error();
      error.offset = kHeaderBytes + error.offset.value_or(0);
      return tl::unexpected<Error>(std::move(error));
    }
    expanded_ = std::move(*expanded);
    inside_ = true;
    return ByteCursor(expanded_.bytes, order_);
  }

  // Offsets within what was compressed are none of the file.
  std::optional<std::uint64_t> place(std::uint64_t at) const {
    return inside_ ? std::optional<std::uint64_t>(kHeaderBytes) : at;
  }
  tl::unexpected<Error> broken(std::string message, std::uint64_t at) const {
    return fail(ErrorCode::malformed, std::move(message), place(at));
  }
  Result<void> ended(const ByteCursor& in) const {
    auto status = in.status("a record of samples");
    if (status || !inside_) return status;
    Error error = std::move(status).error();
    error.offset = kHeaderBytes;
    return tl::unexpected<Error>(std::move(error));
  }

  Result<void> record(ByteCursor& in) {
    const std::uint64_t at = in.offset();
    const std::uint64_t tid = in.u64();
    const std::uint32_t interpreter = in.u32();
    const std::uint8_t kind = in.u8();
    if (!in.ok()) return ended(in);
    Thread& thread = thread_of(tid, interpreter);
    if (kind > pop_push) return broken(fmt::format("a record of the unknown kind {}", kind), at);
    if (!thread.started && (kind == repeat || kind == suffix))
      return broken("a thread's first sample repeats a stack", at);
    if (kind == repeat) return repeated(in, thread, at);

    const std::uint64_t delta = in.varint();
    const std::uint8_t status = in.u8();
    std::uint64_t keep = 0;
    if (kind == suffix) {
      keep = in.varint();
    } else if (kind == pop_push) {
      const std::uint64_t pop = in.varint();
      if (!in.ok()) return ended(in);
      if (pop > thread.stack.size()) return broken("more frames leave a stack than it has", at);
      keep = thread.stack.size() - pop;
    }
    const std::uint64_t n = in.varint();
    if (!in.ok()) return ended(in);
    if (keep > thread.stack.size()) return broken("more frames of a stack stay than it has", at);
    if (n > in.left()) {
      in.skip(n);
      return ended(in);
    }
    if (keep + n > context_.limits.stack_depth)
      return fail(
          ErrorCode::limit,
          fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
          place(at));
    rows_.clear();
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t row = in.varint();
      if (!in.ok()) return ended(in);
      if (row >= frames_.id.size())
        return broken(fmt::format("a stack has frame {}, but there are {}", row, frames_.id.size()), at);
      rows_.push_back(static_cast<std::uint32_t>(row));
    }
    thread.started = true;
    thread.stack.resize(keep);
    thread.opcodes.resize(keep);
    for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
      const ContextId parent = thread.stack.empty() ? kRootContext : thread.stack.back();
      const FrameId frame = frames_.id[*row];
      thread.stack.push_back(frame.valid() ? builder_.context(parent, frame) : parent);
      thread.opcodes.push_back(frames_.opcode[*row]);
    }
    return sample(thread, delta, status, at);
  }

  Result<void> repeated(ByteCursor& in, Thread& thread, std::uint64_t at) {
    const std::uint64_t n = in.varint();
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t delta = in.varint();
      const std::uint8_t status = in.u8();
      if (!in.ok()) return ended(in);
      PROFD_CHECK(sample(thread, delta, status, at));
    }
    return in.ok() ? Result<void>{} : ended(in);
  }

  Thread& thread_of(std::uint64_t tid, std::uint32_t interpreter) {
    Thread& thread = threads_[{tid, interpreter}];
    if (!thread.id.valid()) {
      ThreadSpec spec{.tid = static_cast<std::int64_t>(tid & 0x7FFFFFFFFFFFFFFFull)};
      const std::string name = interpreter == 0 ? "" : fmt::format("interpreter {}", interpreter);
      spec.name = name;
      thread.id = builder_.thread(spec);
    }
    return thread;
  }

  Result<void> sample(Thread& thread, std::uint64_t delta, std::uint8_t status, std::uint64_t at) {
    if (delta > kLongestUs || thread.time_us + delta > kLongestUs)
      return broken("a sample was taken more than a hundred years after the start", at);
    thread.time_us += delta;
    SampleContext where;
    where.thread = thread.id;
    where.time = static_cast<std::int64_t>(thread.time_us * 1000);
    where.labels = labels_of(status, thread.opcodes.empty() ? kNoOpcode : thread.opcodes.back());
    where.state = (status & on_cpu) != 0 ? ThreadState::running
                  : idle(status)         ? ThreadState::waiting
                                         : ThreadState::unknown;
    const std::int64_t values[] = {1, interval_ns_};
    const ContextId context = thread.stack.empty() ? kRootContext : thread.stack.back();
    builder_.add_sample(context, std::span(values).first(builder_.n_metrics()), where);
    if (++n_samples_ % 65536 == 0) {
      PROFD_CHECK(context_.stop.status());
      if (context_.progress) context_.progress(at, source_.bytes().size());
    }
    return {};
  }

  // Only some modes look whether a thread runs; that it was not seen to says nothing in the others.
  bool idle(std::uint8_t status) const { return measures_cpu_ && (status & (on_cpu | cpu_unknown)) == 0; }

  LabelSetId labels_of(std::uint8_t status, std::uint8_t opcode) {
    const auto [at, is_new] = label_sets_.try_emplace(static_cast<std::uint16_t>(status << 8 | opcode));
    if (!is_new) return at->second;
    std::vector<Label> labels;
    const auto say = [&](std::string_view key, std::string_view text) {
      labels.push_back({.key = builder_.string(key), .text = builder_.string(text)});
    };
    if ((status & has_gil) != 0) say("gil", "held");
    if ((status & wants_gil) != 0) say("gil", "wanted");
    if ((status & on_cpu) != 0) say("cpu", "yes");
    if (idle(status)) say("cpu", "no");
    if ((status & exception) != 0) say("exception", "yes");
    if (opcode != kNoOpcode)
      labels.push_back({.key = builder_.string("opcode"), .is_number = true, .number = opcode});
    return at->second = builder_.label_set(labels);
  }

  struct KeyHash {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint32_t>& key) const {
      return std::hash<std::uint64_t>()(key.first * 0x9E3779B97F4A7C15ull ^ key.second);
    }
  };

  const ByteSource& source_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::endian order_ = std::endian::little;
  Frames frames_;
  Expanded expanded_;
  bool inside_ = false;  // the samples were compressed
  bool measures_cpu_ = false;
  std::int64_t interval_ns_ = 0;
  std::unordered_map<std::pair<std::uint64_t, std::uint32_t>, Thread, KeyHash> threads_;
  std::unordered_map<std::uint16_t, LabelSetId> label_sets_;
  std::vector<std::uint32_t> rows_;
  std::uint64_t n_samples_ = 0;
};

}  // namespace

std::string_view mode_name(std::uint32_t mode) {
  constexpr std::string_view kNames[] = {"", "wall", "cpu", "gil", "all", "exception"};
  return mode < std::size(kNames) ? kNames[mode] : std::string_view();
}

Result<void> read_recording(const ByteSource& source, ReadContext& context, ProfileBuilder& builder) {
  return RecordingReading(source, context, builder).run();
}

}  // namespace profd::tachyon
