// Perfetto traces (protos/perfetto/trace/trace_packet.proto): a sequence of TracePacket. A first pass takes
// what counts for the whole trace wherever it stands (symbols, clocks, names), a second one the events.
// docs/formats/perfetto.md says what becomes of each kind of packet.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/perfetto/heap.h"
#include "formats/perfetto/packets.h"
#include "formats/perfetto/slices.h"
#include "formats/perfetto/trace.h"

namespace profd {
namespace {

using namespace perfetto;
namespace packet_field = schema::trace_packet;
using protobuf::Field;
using protobuf::Wire;

constexpr std::array<std::string_view, 3> kExtensions{".perfetto-trace", ".pftrace", ".perfetto"};
constexpr ReaderNotes kNotes{
    .versions = "TracePacket protobuf, also with compressed packets",
    .keeps =
        "CPU samples, native and managed heap dumps, slices as time and spans, instants, counters; threads, "
        "times, "
        "lines, modules",
    .recording = "tools/cpu_profile -n com.example",
    .verified =
        "another decoder, on two traces of slices; slices of a recording of Chromium; samples and heaps: "
        "only files written with Perfetto's "
        "classes",
};
// Half the range, so that differences of two times fit.
constexpr std::int64_t kMaxTime = std::int64_t{1} << 61;

class Reading {
 public:
  Reading(ReadContext& context, std::vector<ProfileBuilder>& profiles)
      : context_(context), profiles_(profiles), heaps_(context, stacks_), slices_(context, names_) {}

  Result<void> run(const ByteSource& source) {
    PROFD_TRY(const Packets packets, collect_packets(source, context_));
    Packet packet;
    for (std::size_t i = 0; i < packets.bytes.size(); ++i) {
      if (!parse_packet(packets.bytes[i], packets.offsets[i], packet))
        return fail(ErrorCode::malformed, "the packet is ill-formed", packets.offsets[i]);
      survey(packet);
    }
    for (std::size_t i = 0; i < packets.bytes.size(); ++i) {
      if (i % 4096 == 0) PROFD_CHECK(context_.stop.status());
      parse_packet(packets.bytes[i], packets.offsets[i], packet);
      read(packet);
    }
    return build(packets.bytes.size());
  }

 private:
  struct Sample {
    std::int64_t time = 0;
    bool has_time = false;
    std::int64_t pid = -1, tid = -1;
    std::int64_t cpu = -1;
    std::uint32_t stack = kNone;
  };

  void survey(const Packet& packet) {
    Field field, part;
    Cursor in = packet.data;
    switch (packet.kind) {
      case packet_field::process_tree:
        while (!in.done() && read_field(in, field)) {
          if (field.wire != Wire::length || field.number >= std::size(schema::process_tree::wires)) continue;
          const bool is_process = field.number == schema::process_tree::processes;
          static_assert(schema::process::pid == schema::process_thread::tid);
          std::int64_t id = -1, group = -1;
          std::string_view name;
          for (Cursor at = field.bytes; !at.done() && read_field(at, part);) {
            if (part.number == schema::process::pid && part.wire == Wire::varint)
              id = static_cast<std::int32_t>(part.value);
            if (!is_process && part.number == schema::process_thread::tgid && part.wire == Wire::varint)
              group = static_cast<std::int32_t>(part.value);
            // The first word of a command line.
            const std::uint32_t text = is_process ? schema::process::cmdline : schema::process_thread::name;
            if (part.number == text && part.wire == Wire::length && name.empty()) name = text_of(part.bytes);
          }
          if (is_process)
            names_.process[id] = name;
          else
            names_.thread[id] = {group, name};
        }
        break;
      case packet_field::clock_snapshot:
        clocks_.add_snapshot(in, packet.sequence);
        break;
      case packet_field::track_descriptor:
        slices_.add_track(in);
        break;
      case packet_field::module_symbols:
        stacks_.add_symbols(in);
        break;
      default:
        break;
    }
  }

  std::optional<std::int64_t> time_of(const Packet& packet, const Sequence& sequence) {
    if (!packet.has_timestamp) return std::nullopt;
    const std::uint32_t clock = packet.has_clock ? packet.clock : sequence.clock != 0 ? sequence.clock : 0;
    if (clock == 0) return clamp(clocks_.resolve(packet.timestamp, kBoottime));
    return trace_time(clock_key(clock, packet.sequence),
                      clocks_.resolve(packet.timestamp, clock_key(clock, packet.sequence)), packet.offset);
  }

  std::int64_t trace_time(ClockKey clock, std::int64_t ns, std::uint64_t offset) {
    const auto time = clocks_.to_trace(clock, ns);
    if (!time)
      context_.report.add("unknown-clock", Severity::info,
                          "times of a clock that no snapshot ties to the trace's were taken as they are",
                          offset);
    return clamp(time.value_or(ns));
  }
  static std::int64_t clamp(std::int64_t ns) { return std::clamp(ns, -kMaxTime, kMaxTime); }

  void read_defaults(Cursor in, Sequence& sequence) {
    Field field, part;
    while (!in.done() && read_field(in, field)) {
      if (field.number == schema::trace_packet_defaults::timestamp_clock_id && field.wire == Wire::varint)
        sequence.clock = static_cast<std::uint32_t>(field.value);
      if (field.wire != Wire::length) continue;
      for (Cursor at = field.bytes; !at.done() && read_field(at, part);) {
        if (field.number == schema::trace_packet_defaults::track_event_defaults &&
            part.number == schema::track_event_defaults::track_uuid && part.wire == Wire::varint) {
          sequence.track = part.value;
          sequence.has_track = true;
        }
        if (field.number == schema::trace_packet_defaults::perf_sample_defaults &&
            part.number == schema::perf_sample_defaults::timebase && part.wire == Wire::length)
          read_timebase(part.bytes);
      }
    }
  }

  void read_timebase(Cursor in) {
    Field field;
    while (!in.done() && read_field(in, field)) {
      if (field.number == schema::timebase::period && field.wire == Wire::varint) period_ = field.value;
      if (field.number == schema::timebase::frequency && field.wire == Wire::varint) frequency_ = field.value;
    }
  }

  void read(const Packet& packet) {
    Sequence& sequence = sequences_[packet.sequence];
    if (packet.dropped && sequence.valid)
      context_.report.add("packets-lost", Severity::loss, "the tracer lost packets before this one",
                          packet.offset);
    if (packet.cleared) {
      sequence.interned.clear();
      sequence.valid = true;
      sequence.clock = 0;
      sequence.has_track = false;
    }
    if (packet.kind == packet_field::clock_snapshot) clocks_.begin_from(packet.data, packet.sequence);
    if (packet.defaults.p) read_defaults(packet.defaults, sequence);
    if (packet.interned.p) sequence.interned.add(packet.interned);
    const std::optional<std::int64_t> time = time_of(packet, sequence);
    if (packet.needs_state && !sequence.valid)
      context_.report.add("state-missing", Severity::loss,
                          "packets refer to names from before the trace began; what they name is not known",
                          packet.offset);
    switch (packet.kind) {
      case packet_field::track_event:
        read_event(packet, sequence, time);
        break;
      case packet_field::profile_packet:
        heaps_.add_packet(packet.data, sequence, packet.sequence, packet.offset);
        break;
      case packet_field::thread_descriptor:
        read_thread(packet.data, sequence);
        break;
      case packet_field::streaming_profile_packet:
        read_streaming(packet, sequence);
        break;
      case packet_field::heap_graph:
        heaps_.add_graph(packet.data, packet.sequence, packet.offset);
        break;
      case packet_field::perf_sample:
        read_perf_sample(packet, sequence, time);
        break;
      case packet_field::ftrace_events:
        context_.report.add("ftrace", Severity::info, "kernel trace events were not read", packet.offset);
        break;
      case packet_field::chrome_events:
        context_.report.add("chrome-events", Severity::loss, "events of old Chrome versions were not read",
                            packet.offset);
        break;
      case packet_field::deobfuscation_mapping:
        context_.report.add("obfuscation-map", Severity::info, "maps of obfuscated names were not used",
                            packet.offset);
        break;
      case packet_field::stack_sample:
        context_.report.add("stack-sample", Severity::loss, "stack_sample packets were not read",
                            packet.offset);
        break;
      default:
        break;
    }
  }

  void read_event(const Packet& packet, Sequence& sequence, std::optional<std::int64_t> time) {
    if (!time) {
      Cursor in = packet.data;
      Field field;
      while (!in.done() && read_field(in, field)) {
        if (field.wire != Wire::varint) continue;
        if (field.number == schema::track_event::timestamp_delta_us)
          time = advance(sequence, static_cast<std::int64_t>(field.value), packet.offset);
        if (field.number == schema::track_event::timestamp_absolute_us)
          time = microseconds(static_cast<std::int64_t>(field.value), packet.offset);
      }
    }
    if (!time) {
      context_.report.add("no-time", Severity::loss, "events without a time were not read", packet.offset);
      return;
    }
    slices_.add_event(packet.data, sequence, *time, packet.offset);
  }

  std::int64_t advance(Sequence& sequence, std::int64_t delta_us, std::uint64_t offset) {
    if (__builtin_add_overflow(sequence.reference_us, delta_us, &sequence.reference_us))
      sequence.reference_us = 0;
    return microseconds(sequence.reference_us, offset);
  }
  std::int64_t microseconds(std::int64_t us, std::uint64_t offset) {
    const std::int64_t bounded = std::clamp(us, -kMaxTime / 1000, kMaxTime / 1000);
    return trace_time(kMonotonic, bounded * 1000, offset);
  }

  void read_thread(Cursor in, Sequence& sequence) {
    namespace thread = schema::thread_descriptor;
    std::string_view name;
    Field field;
    while (!in.done() && read_field(in, field)) {
      if (field.number == thread::thread_name && field.wire == Wire::length) name = text_of(field.bytes);
      if (field.wire != Wire::varint) continue;
      if (field.number == thread::pid) sequence.pid = static_cast<std::int32_t>(field.value);
      if (field.number == thread::tid) sequence.tid = static_cast<std::int32_t>(field.value);
      if (field.number == thread::reference_timestamp_us)
        sequence.reference_us = static_cast<std::int64_t>(field.value);
    }
    sequence.has_thread = true;
    if (!name.empty()) names_.thread[sequence.tid] = {sequence.pid, name};
  }

  std::uint32_t stack_of(Sequence& sequence, std::uint64_t id, std::uint64_t offset) {
    std::uint64_t lost = 0;
    const std::uint32_t stack = stacks_.stack(sequence.interned, id, lost);
    if (lost > 0)
      context_.report.add("missing-frame", Severity::loss, "frames of call stacks are not in the trace",
                          offset, lost);
    if (stack == kNone)
      context_.report.add("missing-stack", Severity::loss, "call stacks of samples are not in the trace",
                          offset);
    return stack;
  }

  void read_streaming(const Packet& packet, Sequence& sequence) {
    std::vector<std::uint64_t> stacks, deltas;
    Cursor in = packet.data;
    Field field;
    while (!in.done() && read_field(in, field)) {
      const bool is_stack = field.number == schema::streaming_profile_packet::callstack_iid;
      if (!is_stack && field.number != schema::streaming_profile_packet::timestamp_delta_us) continue;
      std::vector<std::uint64_t>& out = is_stack ? stacks : deltas;
      std::uint64_t value;
      if (field.wire == Wire::varint) out.push_back(field.value);
      if (field.wire == Wire::length)
        while (!field.bytes.done() && read_varint(field.bytes, value)) out.push_back(value);
    }
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      Sample sample{.pid = sequence.pid, .tid = sequence.tid};
      if (i < deltas.size()) {
        sample.time = advance(sequence, static_cast<std::int64_t>(deltas[i]), packet.offset);
        sample.has_time = true;
      }
      sample.stack = stack_of(sequence, stacks[i], packet.offset);
      samples_.push_back(sample);
    }
  }

  void read_perf_sample(const Packet& packet, Sequence& sequence, std::optional<std::int64_t> time) {
    Sample sample;
    std::uint64_t stack = 0;
    bool has_stack = false;
    Cursor in = packet.data;
    Field field;
    while (!in.done() && read_field(in, field)) {
      if (field.wire != Wire::varint) continue;
      switch (field.number) {
        case schema::perf_sample::cpu:
          sample.cpu = static_cast<std::uint32_t>(field.value);
          break;
        case schema::perf_sample::pid:
          sample.pid = static_cast<std::int32_t>(field.value);
          break;
        case schema::perf_sample::tid:
          sample.tid = static_cast<std::int32_t>(field.value);
          break;
        case schema::perf_sample::callstack_iid:
          stack = field.value;
          has_stack = true;
          break;
        case schema::perf_sample::unwind_error:
          if (field.value > 1)
            context_.report.add("unwind-error", Severity::info, "call stacks end early: unwinding failed",
                                packet.offset);
          break;
        case schema::perf_sample::kernel_records_lost:
          context_.report.add("kernel-records-lost", Severity::loss,
                              "the kernel lost records, samples among them", packet.offset, field.value);
          return;
        case schema::perf_sample::sample_skipped_reason:
          context_.report.add("sample-skipped", Severity::loss,
                              "the profiler skipped samples that it could not unwind", packet.offset);
          return;
        default:
          break;
      }
    }
    if (time) {
      sample.time = *time;
      sample.has_time = true;
    }
    if (has_stack) sample.stack = stack_of(sequence, stack, packet.offset);
    samples_.push_back(sample);
  }

  Result<void> build(std::size_t n_packets) {
    std::int64_t first = slices_.first_time();
    for (const Sample& sample : samples_)
      if (sample.has_time) first = std::min(first, sample.time);
    if (first == INT64_MAX) first = 0;
    if (!samples_.empty()) build_samples(first);
    heaps_.build(names_, profiles_);
    if (!slices_.empty()) PROFD_CHECK(slices_.build(profiles_.emplace_back(), first));
    if (!profiles_.empty()) slices_.add_notes(profiles_.back(), first);
    if (profiles_.empty())
      return fail(ErrorCode::unsupported,
                  fmt::format("none of the {} packets is a sample, a heap profile or a slice", n_packets));
    for (ProfileBuilder& builder : profiles_) {
      builder.info().producer = "Perfetto";
      builder.info().time_ns = clocks_.to_realtime(first);
    }
    return {};
  }

  void build_samples(std::int64_t first) {
    ProfileBuilder& builder = profiles_.emplace_back();
    FrameMaker frames(stacks_, builder);
    builder.info().name = "samples";
    builder.add_metric("samples", "count");
    if (period_ > 0 && period_ <= INT64_MAX) builder.info().period = static_cast<std::int64_t>(period_);
    if (frequency_ > 0) builder.info().properties.emplace_back("frequency", fmt::format("{} Hz", frequency_));
    const StringId cpu = builder.string("cpu");
    std::int64_t last = first;
    std::unordered_map<std::int64_t, LabelSetId> cpus;
    std::map<std::pair<std::int64_t, std::int64_t>, ThreadId> threads;
    const std::int64_t one = 1;
    for (const Sample& sample : samples_) {
      SampleContext where;
      if (sample.tid >= 0 || sample.pid >= 0) {
        ThreadId& thread = threads[{sample.pid, sample.tid}];
        if (!thread.valid()) thread = builder.thread(names_.spec(sample.pid, sample.tid));
        where.thread = thread;
      }
      if (sample.cpu >= 0) {
        const auto [at, is_new] = cpus.try_emplace(sample.cpu);
        if (is_new) {
          const Label label{.key = cpu, .is_number = true, .number = sample.cpu};
          at->second = builder.label_set(std::span(&label, 1));
        }
        where.labels = at->second;
      }
      if (sample.has_time) {
        where.time = sample.time - first;
        // The kernel samples what is on a processor; others stop threads wherever they are.
        if (sample.cpu >= 0) where.state = ThreadState::running;
        last = std::max(last, sample.time);
      }
      ContextId context;
      if (sample.stack != kNone) {
        context = frames.context(sample.stack);
      } else {
        context = builder.context(
            kRootContext,
            builder.frame({.function = builder.function(FunctionSpec{
                               .name = builder.string("[no call stack]"), .unresolved = true})}));
        context_.report.add("no-stack", Severity::info,
                            "samples without a call stack stand under [no call stack]");
      }
      builder.add_sample(context, std::span(&one, 1), where);
    }
    builder.info().duration_ns = last - first;
  }

  ReadContext& context_;
  std::vector<ProfileBuilder>& profiles_;
  StackTable stacks_;
  Clocks clocks_;
  ThreadNames names_;
  Heaps heaps_;
  Slices slices_;
  std::unordered_map<std::uint32_t, Sequence> sequences_;
  std::vector<Sample> samples_;
  std::uint64_t period_ = 0, frequency_ = 0;
};

class PerfettoReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"perfetto",
                                 "Perfetto trace",
                                 kExtensions,
                                 150,
                                 "Perfetto (traced_perf, heapprofd, the tracing SDK), Chrome, omnitrace",
                                 3,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    Cursor in(prefix);
    std::size_t n_packets = 0;
    bool identified = false, marked = false;
    while (!in.done()) {
      if (*in.p == 0 && n_packets > 0) {
        ++in.p;
        continue;
      }
      if (*in.p != 0x0A) return Confidence::no;
      Field field;
      if (!read_field(in, field)) break;  // cut off by the end of the prefix
      if (!looks_like_packet(field.bytes, identified, marked)) return Confidence::no;
      ++n_packets;
    }
    if (marked || (identified && n_packets > 1)) return Confidence::certain;
    // One packet larger than the prefix: only its beginning can be looked at.
    if (n_packets == 0 && !at_end) return Confidence::need_more;
    return identified ? Confidence::maybe : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    return Reading(context, profiles).run(source);
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_perfetto_reader() {
  return std::make_unique<PerfettoReader>();
}

}  // namespace profd
