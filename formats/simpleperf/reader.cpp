// simpleperf report-sample --protobuf: samples of Android with their symbols. Its perf.data is read by
// formats/perf_data.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "core/support/hash.h"
#include "core/support/interner.h"
#include "core/support/text.h"
#include "formats/simpleperf/records.h"
#include "formats/support/code_symbol.h"

namespace profd {
namespace {

using namespace simpleperf;

constexpr std::array<std::string_view, 2> kExtensions{".trace", ".proto"};
constexpr ReaderNotes kNotes{
    .versions = "report-sample's protobuf, version 1",
    .keeps = "events, off-cpu time, threads, times, symbols, modules, how frames ran",
    .recording = "simpleperf report-sample --protobuf --show-callchain -i perf.data -o perf.trace",
    .verified = "another protobuf decoder, on one corpus file: samples, event counts, threads",
};
constexpr std::size_t kMaxEvents = 128;
constexpr std::size_t kMaxCells = std::size_t{1} << 28;
constexpr auto kMaxInt = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::int64_t clamp(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min(value, kMaxInt));
}

std::string_view unit_of(std::string_view event) {
  const std::string_view base = event.substr(0, event.find_first_of(":/"));
  return base == "cpu-clock" || base == "task-clock" ? "nanoseconds" : "count";
}

class Reading {
 public:
  Reading(std::span<const std::byte> bytes, ReadContext& context, ProfileBuilder& builder)
      : bytes_(bytes), context_(context), builder_(builder) {}

  Result<void> run() {
    // Files and threads stand behind the samples that need them.
    PROFD_CHECK(read_tables());
    Record record;
    for (RecordReader records(bytes_); records.next(record);) {
      if (context_.stop.check()) return context_.stop.status();
      if (record.kind == static_cast<std::uint8_t>(RecordKind::sample)) PROFD_CHECK(handle_sample(record));
      if (record.kind == static_cast<std::uint8_t>(RecordKind::context_switch)) handle_switch(record);
    }
    return build();
  }

 private:
  struct Row {
    ContextId context;
    ThreadId thread;
    std::uint32_t event = 0;  // kNone: only time off the processor
    std::uint64_t time = 0;
    std::int64_t value = 0;
    std::int64_t off_cpu = 0;
  };
  struct ThreadState {
    ThreadId id;
    ContextId root;
    std::uint32_t switch_row = kNone;  // the sample that was taken when the thread left the processor
    std::uint32_t off_row = kNone;     // the same, once it has left
    std::uint64_t off_time = 0;
    bool off = false;
  };

  Result<void> read_tables() {
    RecordReader records(bytes_);
    Record record;
    while (records.next(record)) {
      bool good = true;
      switch (static_cast<RecordKind>(record.kind)) {
        case RecordKind::file: {
          File file;
          good = read_file(record.body, file);
          file_rows_.insert_or_assign(file.id, files_.size());
          files_.push_back(std::move(file));
          break;
        }
        case RecordKind::thread: {
          Thread thread;
          good = read_thread(record.body, thread);
          thread_names_.insert_or_assign(thread.tid, thread);
          break;
        }
        case RecordKind::meta:
          good = read_meta(record.body, meta_);
          break;
        case RecordKind::lost: {
          Lost lost;
          good = read_lost(record.body, lost);
          context_.report.add("lost-samples", Severity::loss, "samples were lost while recording",
                              record.offset, lost.lost);
          break;
        }
        case RecordKind::sample:
        case RecordKind::context_switch:
          break;
        default:
          context_.report.add("unknown-record", Severity::info, "records of unknown kinds were skipped",
                              record.offset);
      }
      if (!good) malformed(record);
    }
    if (auto whole = records.status(); !whole) {
      if (!context_.partial) return whole;
      context_.report.add("truncated", Severity::error, whole.error().message + "; what came before was read",
                          whole.error().offset);
    }
    return {};
  }

  void malformed(const Record& record) {
    context_.report.add("malformed-record", Severity::loss, "records whose fields do not fit were not read",
                        record.offset);
  }

  ThreadState& thread(std::uint32_t tid) {
    const auto [at, is_new] = threads_.try_emplace(tid);
    if (!is_new) return at->second;
    ThreadSpec spec{.tid = static_cast<std::int32_t>(tid)};
    std::string name;
    const auto known = thread_names_.find(tid);
    if (known != thread_names_.end()) {
      name = known->second.name;
      spec.pid = static_cast<std::int32_t>(known->second.pid);
      const auto main = thread_names_.find(known->second.pid);
      if (main != thread_names_.end()) spec.process_name = main->second.name;
    }
    spec.name = name;
    at->second.id = builder_.thread(spec);
    const std::string root = name.empty() ? fmt::format(":{}", static_cast<std::int32_t>(tid)) : name;
    at->second.root = builder_.context(kRootContext, builder_.frame({.function = builder_.function(root)}));
    return at->second;
  }

  FrameId frame(const ChainEntry& entry) {
    const auto next = static_cast<std::uint32_t>(entries_.size());
    const std::uint64_t where = std::uint64_t{entry.file} << 32 | static_cast<std::uint32_t>(entry.symbol);
    const std::uint64_t hash =
        mix64(hash_combine(hash_combine(entry.address, where), static_cast<std::uint64_t>(entry.execution)));
    const std::uint32_t row =
        entry_rows_.find_or_add(hash, next, [&](std::uint32_t r) { return entries_[r] == entry; });
    if (row == next) {
      entries_.push_back(entry);
      frames_.push_back(make_frame(entry));
    }
    return frames_[row];
  }

  FrameId make_frame(const ChainEntry& entry) {
    FrameSpec spec;
    spec.address = entry.address;
    const auto found = file_rows_.find(entry.file);
    const File* file = found == file_rows_.end() ? nullptr : &files_[found->second];
    const std::string_view path = file ? file->path : std::string_view{};
    const bool named =
        file && entry.symbol >= 0 && static_cast<std::size_t>(entry.symbol) < file->symbols.size();
    if (!file) ++n_unknown_files_;
    if (file && entry.symbol >= 0 && !named) ++n_unknown_symbols_;
    FunctionSpec function;
    if (named) {
      const auto symbol = static_cast<std::size_t>(entry.symbol);
      function.name = builder_.string(file->symbols[symbol]);
      if (symbol < file->mangled.size() && file->mangled[symbol] != file->symbols[symbol])
        function.system_name = builder_.string(file->mangled[symbol]);
    } else {
      function.name = builder_.string(unresolved_name(path));
      function.unresolved = true;
    }
    spec.function = builder_.function(function);
    spec.kind = kind_of_module(path);
    // Callers' addresses are within the call already.
    const AddressKind addresses = spec.kind == FrameKind::native ? AddressKind::vaddr : AddressKind::loaded;
    if (!path.empty()) spec.module = builder_.module({.name = path, .addresses = addresses});
    if (entry.execution == Execution::interpreted) spec.kind = FrameKind::interpreted;
    if (entry.execution == Execution::jit) spec.kind = FrameKind::jit;
    return builder_.frame(spec);
  }

  Result<void> handle_sample(const Record& record) {
    if (!read_sample(record.body, sample_)) {
      malformed(record);
      return {};
    }
    if (sample_.chain.size() > context_.limits.stack_depth)
      return fail(
          ErrorCode::limit,
          fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
          record.offset);
    if (sample_.event >= std::max<std::size_t>(meta_.events.size(), 1)) {
      context_.report.add("unknown-event", Severity::loss,
                          "samples of events that the file does not name were not read", record.offset);
      return {};
    }
    n_broken_ += sample_.broken_chain;
    ThreadState& state = thread(static_cast<std::uint32_t>(sample_.thread));
    ContextId context = state.root;
    for (std::size_t i = sample_.chain.size(); i-- > 0;)
      context = builder_.context(context, frame(sample_.chain[i]));
    if (meta_.events.empty() ? false : meta_.events[sample_.event] == "sched:sched_switch")
      state.switch_row = static_cast<std::uint32_t>(rows_.size());
    rows_.push_back({context, state.id, sample_.event, sample_.time, clamp(sample_.count), 0});
    return {};
  }

  void handle_switch(const Record& record) {
    Switch event;
    if (!read_switch(record.body, event)) {
      malformed(record);
      return;
    }
    any_switch_ = true;
    ThreadState& state = thread(event.tid);
    if (!event.on) {
      state.off = true;
      state.off_time = event.time;
      state.off_row = state.switch_row;
      state.switch_row = kNone;
      return;
    }
    if (state.off && event.time >= state.off_time) {
      if (state.off_row == kNone) {
        ++n_off_without_stack_;
        state.off_row = static_cast<std::uint32_t>(rows_.size());
        rows_.push_back({state.root, state.id, kNone, state.off_time, 0, 0});
      }
      rows_[state.off_row].off_cpu = clamp(event.time - state.off_time);
    }
    state.off = false;
    state.switch_row = kNone;
  }

  Result<void> build() {
    if (meta_.events.size() > kMaxEvents)
      return fail(ErrorCode::limit, fmt::format("more than {} events", kMaxEvents), kHeaderSize);
    const std::size_t n_events = std::max<std::size_t>(meta_.events.size(), 1);
    for (std::size_t e = 0; e < n_events; ++e) {
      const std::string name = e < meta_.events.size() ? repair_utf8(meta_.events[e]) : "event";
      builder_.add_metric(name.empty() ? "event" : name, unit_of(name));
    }
    const std::size_t samples_column = n_events, off_column = n_events + 1;
    builder_.add_metric("samples", "count");
    if (any_switch_) builder_.add_metric("off-cpu", "nanoseconds");
    const std::size_t n_metrics = n_events + 1 + (any_switch_ ? 1 : 0);
    if (rows_.size() > kMaxCells / n_metrics)
      return fail(ErrorCode::limit,
                  fmt::format("{} samples of {} events are more than is kept", rows_.size(), n_events));
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0, n_samples = 0;
    for (const Row& row : rows_) {
      first = std::min(first, row.time);
      last = std::max(last, row.time);
      n_samples += row.event != kNone;
    }
    std::vector<std::int64_t> values(n_metrics);
    for (const Row& row : rows_) {
      std::fill(values.begin(), values.end(), 0);
      if (row.event != kNone) values[row.event] = row.value;
      values[samples_column] = row.event != kNone;
      if (any_switch_) values[off_column] = row.off_cpu;
      SampleContext where;
      where.thread = row.thread;
      where.time = clamp(row.time - first);
      builder_.add_sample(row.context, values, where);
    }
    builder_.set_n_samples(n_samples);
    describe(rows_.empty() ? 0 : last - first);
    return {};
  }

  void describe(std::uint64_t duration) {
    ProfileInfo& info = builder_.info();
    info.producer = "simpleperf";
    info.program = repair_utf8(meta_.package);
    info.duration_ns = clamp(duration);
    const auto property = [&](std::string_view key, std::string_view value) {
      if (!value.empty()) info.properties.emplace_back(std::string(key), repair_utf8(value));
    };
    property("app type", meta_.app_type);
    property("android sdk", meta_.sdk);
    property("android build type", meta_.build_type);
    if (meta_.trace_off_cpu) property("trace off-cpu", "yes");
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         std::uint64_t n) { context_.report.add(kind, severity, message, std::nullopt, n); };
    row("unwinding-failed", Severity::info, "samples whose stack could not be unwound to its end", n_broken_);
    row("unknown-file", Severity::loss, "frames of files that are not listed", n_unknown_files_);
    row("unknown-symbol", Severity::loss, "frames with a symbol that their file does not list",
        n_unknown_symbols_);
    row("off-cpu-without-stack", Severity::info,
        "times off the processor without a sample of the switch are counted to their thread",
        n_off_without_stack_);
  }

  std::span<const std::byte> bytes_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  Meta meta_;
  std::vector<File> files_;
  std::unordered_map<std::uint32_t, std::size_t> file_rows_;
  std::unordered_map<std::uint32_t, Thread> thread_names_;
  std::unordered_map<std::uint32_t, ThreadState> threads_;
  RowSet entry_rows_;
  std::vector<ChainEntry> entries_;
  std::vector<FrameId> frames_;  // by row of entries_
  Sample sample_;
  std::vector<Row> rows_;
  bool any_switch_ = false;
  std::uint64_t n_broken_ = 0, n_unknown_files_ = 0, n_unknown_symbols_ = 0, n_off_without_stack_ = 0;
};

class SimpleperfReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"simpleperf",
                                 "simpleperf samples (protobuf)",
                                 kExtensions,
                                 32,
                                 "Android simpleperf report-sample --protobuf, Android Studio",
                                 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
    return text.starts_with(kMagic) ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const auto bytes = source.bytes();
    if (!source.text().starts_with(kMagic))
      return fail(ErrorCode::malformed, "the file does not begin with SIMPLEPERF", 0);
    if (bytes.size() < kHeaderSize) return fail(ErrorCode::truncated, "the header ends early", bytes.size());
    const auto version = static_cast<unsigned>(bytes[10]) | static_cast<unsigned>(bytes[11]) << 8;
    if (version != 1)
      return fail(ErrorCode::unsupported, fmt::format("version {} is not read, only 1", version), 10);
    return Reading(bytes, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_simpleperf_reader() {
  return std::make_unique<SimpleperfReader>();
}

}  // namespace profd
