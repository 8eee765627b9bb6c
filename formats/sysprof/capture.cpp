#include "formats/sysprof/capture.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/support/byte_cursor.h"
#include "formats/support/demangle.h"
#include "formats/support/loaded_modules.h"
#include "formats/sysprof/notes.h"

namespace profd::sysprof {
namespace {

constexpr std::uint32_t kMagic = 0xFDCA975E;
constexpr std::size_t kHeader = 256, kFrame = 24;
// PERF_CONTEXT_*: not addresses, but what those behind them are.
constexpr std::uint64_t kFirstMarker = static_cast<std::uint64_t>(-4095),
                        kKernelMarker = static_cast<std::uint64_t>(-128);

enum FrameType : std::uint8_t {
  kTimestamp = 1,
  kSample,
  kMap,
  kProcess,
  kFork,
  kExit,
  kJitmap,
  kCounterDefine,
  kCounterSet,
  kMark,
  kMetadata,
  kLog,
  kFileChunk,
  kAllocation,
  kOverlay
};

class Reading {
 public:
  Reading(const ByteSource& source, ReadContext& context, std::vector<ProfileBuilder>& profiles)
      : source_(source), context_(context), profiles_(profiles) {}

  Result<void> run() {
    const auto bytes = source_.bytes();
    if (bytes.size() < kHeader) return fail(ErrorCode::truncated, "the header ends early", bytes.size());
    const bool little = std::to_integer<int>(bytes[0]) == 0x5E;
    order_ = little ? std::endian::little : std::endian::big;
    ByteCursor header(bytes, order_);
    header.skip(4);
    const std::uint32_t version = std::to_integer<std::uint32_t>(bytes[4]);
    if (version != 1)
      return fail(ErrorCode::unsupported, fmt::format("version {} of captures is not read, only 1", version),
                  4);
    header.seek(72);
    start_ = header.i64();
    end_ = header.i64();
    PROFD_CHECK(each_frame([&](std::uint8_t type, const Head&, ByteCursor& in) -> Result<void> {
      if (type == kJitmap) read_jitmap(in);
      return {};
    }));
    PROFD_CHECK(each_frame([&](std::uint8_t type, const Head& head, ByteCursor& in) -> Result<void> {
      return read_frame(type, head, in);
    }));
    return build();
  }

 private:
  struct Head {
    std::int16_t cpu = 0;
    std::int32_t pid = 0;
    std::int64_t time = 0;
    std::uint64_t offset = 0;
  };
  struct Mapping {
    std::uint64_t end = 0, offset = 0;
    std::string_view file;
  };
  using Mappings = std::map<std::uint64_t, Mapping>;  // by start
  struct Sample {
    Head head;
    std::int32_t tid = 0;
    std::int64_t bytes = 0;  // of allocations
    std::size_t first = 0, n = 0;
  };
  // An address, and where it lay when it was seen.
  struct Place {
    std::uint64_t address = 0, start = 0, limit = 0, offset = 0;
    std::string_view file, name;
    bool kernel = false, is_return = false;
    auto operator<=>(const Place&) const = default;
  };

  template <class Each>
  Result<void> each_frame(const Each& each) {
    const auto bytes = source_.bytes();
    std::size_t at = kHeader;
    for (std::uint64_t n = 0; at < bytes.size(); ++n) {
      if (n % 65536 == 0) PROFD_CHECK(context_.stop.status());
      ByteCursor in(bytes.subspan(at), order_, at);
      const std::uint16_t size = in.u16();
      if (!in.ok() || size < kFrame || size > bytes.size() - at) {
        const bool cut = !in.ok() || size >= kFrame;
        if (cut && (context_.partial || source_.truncated())) {
          if (!reported_cut_)
            context_.report.add("truncated", Severity::loss, "the capture ends inside a frame", at);
          reported_cut_ = true;
          return {};
        }
        return fail(cut ? ErrorCode::truncated : ErrorCode::malformed,
                    cut ? "the capture ends inside a frame" : "a frame is shorter than its head", at);
      }
      ByteCursor frame(bytes.subspan(at, size), order_, at);
      frame.skip(2);
      Head head;
      head.offset = at;
      head.cpu = frame.i16();
      head.pid = frame.i32();
      head.time = frame.i64();
      const std::uint8_t type = frame.u8();
      frame.skip(7);
      PROFD_CHECK(each(type, head, frame));
      at += size;
    }
    return {};
  }

  static std::string_view text_of(ByteCursor& in) {
    const auto rest = in.rest();
    const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
    return text.substr(0, text.find('\0'));
  }

  void read_jitmap(ByteCursor& in) {
    const std::uint32_t n = in.u32();
    for (std::uint32_t i = 0; i < n && in.ok(); ++i) {
      const std::uint64_t address = in.u64();
      const std::string_view name = in.text_to_nul();
      if (in.ok()) jit_[address] = name;
    }
    if (!in.ok())
      context_.report.add("malformed-frame", Severity::loss,
                          "frames of the capture that end early were not read", in.offset());
  }

  Result<void> read_frame(std::uint8_t type, const Head& head, ByteCursor& in) {
    switch (type) {
      case kSample: {
        const std::uint16_t n = in.u16();
        in.skip(2);
        Sample sample;
        sample.head = head;
        sample.tid = in.i32();
        PROFD_CHECK(read_addresses(in, n, sample));
        samples_.push_back(sample);
        break;
      }
      case kAllocation: {
        in.skip(8);
        Sample sample;
        sample.head = head;
        sample.bytes = in.i64();
        sample.tid = in.i32();
        const std::uint16_t n = in.u16();
        in.skip(2);
        if (sample.bytes <= 0) {
          context_.report.add("free", Severity::info, "frees were not read", head.offset);
          break;
        }
        PROFD_CHECK(read_addresses(in, n, sample));
        allocations_.push_back(sample);
        break;
      }
      case kMap: {
        const std::uint64_t start = in.u64();
        Mapping mapping;
        mapping.end = in.u64();
        mapping.offset = in.u64();
        in.skip(8);
        if (!in.ok()) return malformed(head);
        mapping.file = text_of(in);
        if (mapping.end > start) map(maps_[head.pid], start, mapping);
        break;
      }
      case kProcess:
        processes_[head.pid] = text_of(in);
        break;
      case kFork: {
        const std::int32_t child = in.i32();
        if (!in.ok()) return malformed(head);
        // Bounded: a file can say that one process forked a million times.
        if (const auto parent = maps_.find(head.pid); parent != maps_.end() && n_copied_ < 1'000'000) {
          n_copied_ += parent->second.size();
          const Mappings copy = parent->second;
          maps_[child] = copy;
        }
        if (const auto parent = processes_.find(head.pid); parent != processes_.end())
          processes_.try_emplace(child, parent->second);
        break;
      }
      case kTimestamp:
      case kExit:
      case kJitmap:
      case kMetadata:
        break;
      case kCounterDefine:
      case kCounterSet:
      case kMark:
      case kLog:
        if (!notes_.take(type == kCounterDefine ? NoteKind::counter_define
                         : type == kCounterSet  ? NoteKind::counter_set
                         : type == kMark        ? NoteKind::mark
                                                : NoteKind::log,
                         head.time, head.pid, in))
          return malformed(head);
        break;
      case kFileChunk:
        context_.report.add("embedded-file", Severity::info, "files embedded in the capture were not read",
                            head.offset);
        break;
      case kOverlay:
        context_.report.add("overlay", Severity::info, "overlays of file systems were not used", head.offset);
        break;
      default:
        context_.report.add("unknown-frame", Severity::loss, "frames of unknown types were not read",
                            head.offset);
        break;
    }
    return {};
  }

  Result<void> malformed(const Head& head) {
    context_.report.add("malformed-frame", Severity::loss,
                        "frames of the capture that end early were not read", head.offset);
    return {};
  }

  // What is mapped now hides what was mapped there before.
  static void map(Mappings& maps, std::uint64_t start, const Mapping& mapping) {
    auto at = maps.lower_bound(start);
    while (at != maps.end() && at->first < mapping.end) at = maps.erase(at);
    maps[start] = mapping;
  }

  Result<void> read_addresses(ByteCursor& in, std::uint16_t n, Sample& sample) {
    sample.first = places_.size();
    bool kernel = false, exact = true;
    const auto maps = maps_.find(sample.head.pid);
    for (std::uint16_t i = 0; i < n; ++i) {
      Place place;
      place.address = in.u64();
      if (!in.ok()) {
        places_.resize(sample.first);
        return malformed(sample.head);
      }
      if (place.address >= kFirstMarker) {
        kernel = place.address == kKernelMarker;
        exact = true;
        continue;
      }
      place.kernel = kernel;
      place.is_return = !std::exchange(exact, false);
      if (const auto jit = jit_.find(place.address); jit != jit_.end()) {
        place.name = jit->second;
      } else if (!kernel && maps != maps_.end()) {
        auto after = maps->second.upper_bound(place.address);
        if (after != maps->second.begin() && place.address < (--after)->second.end) {
          place.start = after->first;
          place.limit = after->second.end;
          place.offset = after->second.offset;
          place.file = after->second.file;
        }
      }
      places_.push_back(place_row(place));
    }
    sample.n = places_.size() - sample.first;
    return {};
  }

  std::uint32_t place_row(const Place& place) {
    const auto [at, is_new] = place_rows_.try_emplace(place, static_cast<std::uint32_t>(distinct_.size()));
    if (is_new) distinct_.push_back(place);
    return at->second;
  }

  Result<void> build() {
    if (samples_.empty() && allocations_.empty())
      return fail(ErrorCode::unsupported, "the capture has neither samples nor allocations",
                  source_.bytes().size());
    const std::size_t first = profiles_.size();
    if (!samples_.empty()) build(samples_, false, profiles_.emplace_back());
    if (!allocations_.empty()) build(allocations_, true, profiles_.emplace_back());
    notes_.add_to(profiles_[first], first_time(samples_.empty() ? allocations_ : samples_), context_);
    return {};
  }

  static std::int64_t first_time(const std::vector<Sample>& samples) {
    std::int64_t first = INT64_MAX;
    for (const Sample& sample : samples) first = std::min(first, sample.head.time);
    return first;
  }

  void build(const std::vector<Sample>& samples, bool allocations, ProfileBuilder& builder) {
    builder.info().producer = "Sysprof";
    builder.info().name = allocations ? "allocations" : "samples";
    if (end_ > start_ && start_ >= 0) builder.info().duration_ns = end_ - start_;
    if (allocations) {
      builder.add_metric("alloc_space", "bytes");
      builder.add_metric("alloc_objects", "count");
    } else {
      builder.add_metric("samples", "count");
    }
    std::vector<FrameId> frames;
    for (const Place& place : distinct_) frames.push_back(make_frame(place, builder));
    const StringId cpu = builder.string("cpu");
    std::map<std::pair<std::int32_t, std::int32_t>, ThreadId> threads;
    std::unordered_map<std::int32_t, LabelSetId> cpus;
    const std::int64_t first = first_time(samples);
    std::vector<FrameId> stack;
    for (const Sample& sample : samples) {
      stack.clear();
      for (std::size_t i = sample.n; i-- > 0;) stack.push_back(frames[places_[sample.first + i]]);
      SampleContext where;
      ThreadId& thread = threads[{sample.head.pid, sample.tid}];
      if (!thread.valid()) {
        ThreadSpec spec{.tid = sample.tid, .pid = sample.head.pid};
        if (const auto process = processes_.find(sample.head.pid); process != processes_.end())
          spec.process_name = process->second;
        thread = builder.thread(spec);
      }
      where.thread = thread;
      const auto [label, is_new] = cpus.try_emplace(sample.head.cpu);
      if (is_new && sample.head.cpu >= 0) {
        const Label of{.key = cpu, .is_number = true, .number = sample.head.cpu};
        label->second = builder.label_set(std::span(&of, 1));
      } else if (is_new) {
        label->second = LabelSetId{0u};
      }
      where.labels = label->second;
      std::int64_t time;
      where.time = __builtin_sub_overflow(sample.head.time, first, &time) ? 0 : time;
      // The kernel samples what is on a processor.
      if (!allocations) where.state = ThreadState::running;
      const std::int64_t values[] = {allocations ? sample.bytes : 1, 1};
      builder.add_sample(stack, std::span(values).first(allocations ? 2 : 1), where);
    }
  }

  static FrameId make_frame(const Place& place, ProfileBuilder& builder) {
    FrameSpec spec;
    spec.address = place.address;
    spec.is_return = place.is_return;
    FunctionSpec function;
    if (!place.name.empty()) {
      const std::string readable = demangle(place.name);
      function.name = builder.string(readable);
      if (readable != place.name) function.system_name = builder.string(place.name);
      spec.kind = place.kernel ? FrameKind::kernel : FrameKind::jit;
    } else {
      const std::string_view base = place.file.substr(place.file.rfind('/') + 1);
      function.name = builder.string(place.kernel          ? "[kernel]"
                                     : base.empty()        ? "[unknown]"
                                     : base.front() == '[' ? std::string(base)
                                                           : fmt::format("[{}]", base));
      function.unresolved = true;
      if (place.kernel) spec.kind = FrameKind::kernel;
      if (!place.file.empty()) {
        LoadedModules modules(builder);
        const std::uint32_t row = modules.add(
            {.name = place.file, .start = place.start, .limit = place.limit, .offset = place.offset});
        const LoadedModules::Place at = modules.at(row, place.address);
        spec.module = at.module;
        spec.address = at.address;
      }
    }
    spec.function = builder.function(function);
    return builder.frame(spec);
  }

  const ByteSource& source_;
  ReadContext& context_;
  std::vector<ProfileBuilder>& profiles_;
  std::endian order_ = std::endian::little;
  std::int64_t start_ = 0, end_ = 0;
  bool reported_cut_ = false;
  std::unordered_map<std::uint64_t, std::string_view> jit_;
  std::unordered_map<std::int32_t, Mappings> maps_;
  std::unordered_map<std::int32_t, std::string_view> processes_;
  std::size_t n_copied_ = 0;
  std::map<Place, std::uint32_t> place_rows_;
  std::vector<Place> distinct_;
  std::vector<std::uint32_t> places_;  // of all samples, leaf first
  std::vector<Sample> samples_, allocations_;
  Notes notes_;
};

}  // namespace

bool is_capture(std::span<const std::byte> prefix) {
  if (prefix.size() < 8) return false;
  ByteCursor little(prefix), big(prefix, std::endian::big);
  return little.u32() == kMagic || big.u32() == kMagic;
}

Result<void> read_capture(const ByteSource& source, ReadContext& context,
                          std::vector<ProfileBuilder>& profiles) {
  return Reading(source, context, profiles).run();
}

}  // namespace profd::sysprof
