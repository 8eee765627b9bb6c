#include "formats/jfr/conversion.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/bytecode_index.h"
#include "core/support/checked.h"
#include "core/support/id.h"
#include "formats/jfr/events.h"
#include "formats/jfr/notes.h"
#include "formats/jfr/stacks.h"

namespace profd::jfr {
namespace {

// Malloc and Free, to tell which blocks nobody freed.
struct BlockEvent {
  std::int64_t time;
  std::uint64_t address;
  std::uint32_t malloc;  // index into Writer::mallocs, kNone for a Free
};
struct MallocEvent {
  ContextId context;
  SampleContext where;
  std::int64_t size;
};

// What a thread does when an event of a family is recorded, where that is told by the family alone.
ThreadState state_of(Family family) {
  switch (family) {
    case Family::cpu:
    case Family::cpu_time:
      return ThreadState::running;
    case Family::lock:
    case Family::park:
    case Family::wait:
    case Family::sleep:
    case Family::native_lock:
      return ThreadState::waiting;
    default:
      return ThreadState::unknown;
  }
}

// One profile while it is written.
struct Writer {
  Family family;
  std::vector<Measure> measures;  // by metric
  ProfileBuilder builder;
  StackCounts stacks;
  std::vector<MallocEvent> mallocs;
  std::uint64_t n_events = 0;
};

// An event class of a chunk that goes to a family.
struct EventSource {
  EventReader reader;
  Family family;
  std::optional<std::int64_t> interval;
};

// async-profiler's setting: what it sampled by.
std::string sampled_event(const Recording& recording) {
  for (const auto& chunk : recording.chunks) {
    const auto found = chunk->settings.by_name.find("event");
    if (found != chunk->settings.by_name.end()) return found->second;
  }
  return {};
}
bool is_clock(std::string_view event) {
  return event.empty() || event == "cpu" || event == "itimer" || event == "ctimer" || event == "wall";
}

class Conversion {
 public:
  Conversion(const Recording& recording, ReadContext& context) : recording_(recording), context_(context) {}

  Result<void> run(std::vector<ProfileBuilder>& profiles) {
    event_ = sampled_event(recording_);
    survey();
    PROFD_CHECK(declare());
    std::uint64_t done = 0;
    for (std::size_t i = 0; i < recording_.chunks.size(); ++i) {
      PROFD_CHECK(read_chunk(i));
      done += recording_.chunks[i]->chunk.bytes.size();
      if (context_.progress) context_.progress(done, done + rest_after(i));
    }
    write_mallocs();
    report();
    for (auto& writer : writers_)
      if (writer) profiles.push_back(std::move(writer->builder));
    return {};
  }

 private:
  using Sources = std::unordered_map<std::uint64_t, EventSource>;  // by class id

  std::uint64_t rest_after(std::size_t i) const {
    std::uint64_t rest = 0;
    while (++i < recording_.chunks.size()) rest += recording_.chunks[i]->chunk.bytes.size();
    return rest;
  }

  // Which families occur, and what their events can tell.
  void survey() {
    sources_.resize(recording_.chunks.size());
    free_ids_.resize(recording_.chunks.size(), {~0ull, std::nullopt});
    lost_ids_.resize(recording_.chunks.size(), {~0ull, std::nullopt});
    for (std::size_t i = 0; i < recording_.chunks.size(); ++i) {
      const LoadedChunk& in = *recording_.chunks[i];
      for (std::uint32_t cls = 0; cls < in.metadata.classes().size(); ++cls) {
        const Class& type = in.metadata.classes()[cls];
        for (const EventKind& kind : event_kinds())
          if (kind.name == type.name)
            sources_[i].try_emplace(type.id, EventSource{EventReader(in, cls), kind.family,
                                                         sampling_interval(in.settings, kind.name)});
        if (type.name == "profiler.Free") free_ids_[i] = {type.id, EventReader(in, cls)};
        if (type.name == "jdk.CPUTimeSamplesLost") lost_ids_[i] = {type.id, EventReader(in, cls)};
      }
      Record record;
      for (std::size_t at = kHeaderBytes; at < in.chunk.records_end; at = record.end) {
        if (!read_record(in.chunk, at, record)) break;
        const auto found = sources_[i].find(record.type);
        if (found == sources_[i].end()) {
          n_frees_ += record.type == free_ids_[i].first;
          continue;
        }
        const EventSource& source = found->second;
        auto& can = can_[static_cast<std::size_t>(source.family)];
        can.present = true;
        can.interval |= source.interval.has_value() || source.reader.has(slot::period);
        can.size |= source.reader.has(slot::size);
        can.duration |= source.reader.has(slot::duration);
      }
    }
  }

  bool available(Family family, Measure measure) const {
    const auto& can = can_[static_cast<std::size_t>(family)];
    switch (measure) {
      case Measure::events:
      case Measure::represented:
        return true;
      case Measure::period:
        return can.interval;
      case Measure::duration:
        return can.duration;
      case Measure::size:
        return can.size;
      case Measure::held_events:
      case Measure::held_size:
        return n_frees_ > 0;
    }
    return false;
  }

  Result<void> declare() {
    bool any = false;
    for (std::size_t f = 0; f < kNFamilies; ++f) {
      if (!can_[f].present) continue;
      any = true;
      const auto family = static_cast<Family>(f);
      writers_[f].emplace(Writer{family, {}, {}, {}, {}, 0});
      declare_metrics(*writers_[f]);
      describe_profile(*writers_[f]);
    }
    if (!any)
      return fail(
          ErrorCode::unsupported,
          "this recording holds no samples: no event of execution, allocation, locking, waiting, input or "
          "output was recorded");
    return {};
  }

  void declare_metrics(Writer& writer) {
    const FamilyPlan& plan = plan_of(writer.family);
    for (std::size_t m = 0; m < plan.metrics.size() && !plan.metrics[m].name.empty(); ++m) {
      const MetricPlan& metric = plan.metrics[m];
      if (!available(writer.family, metric.measure)) continue;
      std::string_view name = metric.name, unit = metric.unit;
      if (writer.family == Family::cpu && metric.measure == Measure::period) {
        if (event_ == "wall") name = "wall";
        if (!is_clock(event_)) name = event_, unit = "count";
      }
      const MetricId id = writer.builder.add_metric(name, unit);
      writer.measures.push_back(metric.measure);
      if (m == plan.default_metric) writer.builder.set_default_metric(id);
    }
  }

  void describe_profile(Writer& writer) {
    ProfileInfo& info = writer.builder.info();
    info.name = plan_of(writer.family).profile;
    if (writer.family == Family::cpu && !event_.empty() && (event_ == "wall" || !is_clock(event_)))
      info.name = event_;
    // One kind of allocation event is "alloc", whichever it is.
    if (writer.family == Family::alloc_sample && !can_[static_cast<std::size_t>(Family::alloc)].present)
      info.name = "alloc";
    const LoadedChunk& first = *recording_.chunks.front();
    const LoadedChunk& last = *recording_.chunks.back();
    info.time_ns = first.chunk.start_ns;
    std::int64_t end = 0, duration = 0;
    if (!__builtin_add_overflow(last.chunk.start_ns, last.chunk.duration_ns, &end) &&
        !__builtin_sub_overflow(end, first.chunk.start_ns, &duration) && duration > 0)
      info.duration_ns = duration;
    info.producer = "JDK Flight Recorder";
    if (first.metadata.has_prefix("profiler.")) {
      const auto version = first.settings.by_name.find("version");
      info.producer = "async-profiler";
      if (version != first.settings.by_name.end()) info.producer += ' ' + version->second;
    }
    for (const auto& [key, value] : recording_.machine) {
      if (value.empty() || key == "startTime" || key == "duration") continue;
      if (key == "javaArguments") info.program = value;
      info.properties.emplace_back(key, value);
    }
    for (std::size_t i = 0; i < sources_.size() && !info.period; ++i) {
      for (const auto& [id, source] : sources_[i]) {
        if (source.family != writer.family || !source.interval) continue;
        info.period = source.interval;
        info.period_type = writer.family == Family::cpu && !event_.empty() ? event_ : info.name;
        info.period_unit = writer.family == Family::cpu && !is_clock(event_) ? "count" : "nanoseconds";
      }
    }
  }

  Result<void> read_chunk(std::size_t i) {
    const LoadedChunk& in = *recording_.chunks[i];
    std::array<std::optional<StackResolver>, kNFamilies> stacks;
    for (std::size_t f = 0; f < kNFamilies; ++f)
      if (writers_[f])
        stacks[f].emplace(in, writers_[f]->builder, context_.limits.stack_depth, writers_[f]->stacks);
    Record record;
    Row row;
    std::unordered_map<std::uint64_t, std::uint64_t> others;  // by class id
    std::unordered_map<std::uint64_t, NoteReader> notes;      // the same
    // All notes go to the first profile of the recording.
    const auto noted =
        static_cast<std::size_t>(std::find_if(writers_.begin(), writers_.end(),
                                              [](const auto& writer) { return writer.has_value(); }) -
                                 writers_.begin());
    const std::int64_t start = recording_.chunks.front()->chunk.start_ns;
    for (std::size_t at = kHeaderBytes; at < in.chunk.records_end; at = record.end) {
      if (!read_record(in.chunk, at, record)) break;
      if (context_.stop.check()) return context_.stop.status();
      const std::uint64_t offset = in.chunk.at + at;
      const auto found = sources_[i].find(record.type);
      if (found != sources_[i].end()) {
        const EventSource& source = found->second;
        if (!source.reader.read(record.body, in, row))
          return fail(ErrorCode::malformed, fmt::format("an event {} ends early", source.reader.name()),
                      offset);
        const auto family = static_cast<std::size_t>(source.family);
        PROFD_CHECK(add(in, source, row, *stacks[family], *writers_[family]));
      } else if (record.type == free_ids_[i].first) {
        if (!free_ids_[i].second->read(record.body, in, row))
          return fail(ErrorCode::malformed, "an event profiler.Free ends early", offset);
        blocks_.push_back({time_of(in, row), row.numbers[slot::address], kNone});
      } else if (record.type == lost_ids_[i].first) {
        const EventReader& reader = *lost_ids_[i].second;
        if (!reader.read(record.body, in, row))
          return fail(ErrorCode::malformed, "an event jdk.CPUTimeSamplesLost ends early", offset);
        n_lost_ +=
            reader.has(slot::samples) ? static_cast<std::uint64_t>(size_of(row.numbers[slot::samples])) : 1;
      } else if (record.type > 1) {
        const std::uint32_t cls = in.metadata.index_of(record.type);
        const auto known = cls == kNone ? notes.end() : notes.try_emplace(record.type, in, cls).first;
        if (known == notes.end() || !known->second.is_note()) {
          ++others[record.type];
          continue;
        }
        PROFD_TRY(const bool whole,
                  known->second.read(record.body, in, start, *stacks[noted], writers_[noted]->builder));
        n_cut_notes_ += whole ? 0 : 1;
        if (in.metadata.classes()[cls].name == "jdk.DataLoss") ++n_data_losses_;
      }
    }
    PROFD_CHECK(in.pools.status());
    for (const auto& [id, n] : others) {
      const std::uint32_t cls = in.metadata.index_of(id);
      const std::string name = cls == kNone ? "(not described)" : in.metadata.classes()[cls].name;
      if (name != "jdk.ActiveSetting" && name != "jdk.JVMInformation") others_[name] += n;
    }
    return {};
  }

  // Since the beginning of the recording.
  std::int64_t time_of(const LoadedChunk& in, const Row& row) const {
    const std::int64_t start = recording_.chunks.front()->chunk.start_ns;
    std::int64_t since = 0;
    return __builtin_sub_overflow(in.chunk.time_ns(row.numbers[slot::time]), start, &since) ? 0 : since;
  }

  std::int64_t size_of(std::uint64_t value) {
    const auto size = static_cast<std::int64_t>(value);
    if (size >= 0) return size;
    ++n_negative_;
    return 0;
  }

  Result<void> add(const LoadedChunk& in, const EventSource& source, const Row& row, StackResolver& stacks,
                   Writer& writer) {
    const EventReader& reader = source.reader;
    SampleContext where;
    if (reader.has(slot::thread)) where.thread = stacks.thread(row.numbers[slot::thread]);
    if (reader.has(slot::time)) where.time = time_of(in, row);
    where.labels = labels(source, row, stacks, writer);
    PROFD_TRY(const ContextId context,
              stacks.context(reader.has(slot::stack) ? row.numbers[slot::stack] : 0));
    where.state = state_of(writer.family);
    // What has a duration went on for that long, whether the profile counts it or not.
    if (where.time && reader.has(slot::duration)) {
      std::int64_t end = 0;
      if (__builtin_add_overflow(*where.time, reader.duration_ns(in.chunk, row), &end)) end = kNoTime;
      writer.builder.timeline().add_span(
          {.begin = *where.time, .end = end, .context = context, .thread = where.thread});
    }
    ++writer.n_events;
    if (writer.family == Family::malloc) {
      blocks_.push_back({where.time.value_or(0), row.numbers[slot::address],
                         static_cast<std::uint32_t>(writer.mallocs.size())});
      writer.mallocs.push_back(
          {context, where, reader.has(slot::size) ? size_of(row.numbers[slot::size]) : 0});
      return {};
    }
    std::array<std::int64_t, 4> values{};
    for (std::size_t m = 0; m < writer.measures.size(); ++m)
      values[m] = measure(writer.measures[m], in, source, row);
    writer.builder.add_sample(context, std::span<const std::int64_t>(values).first(writer.measures.size()),
                              where);
    return {};
  }

  std::int64_t n_events(const EventSource& source, const Row& row) {
    const EventReader& reader = source.reader;
    if (reader.has(slot::samples)) return size_of(row.numbers[slot::samples]);
    const bool counts = source.family == Family::cpu || source.family == Family::wall;
    if (counts && reader.has(slot::weight) && !reader.weight_is_float())
      return size_of(row.numbers[slot::weight]);
    return 1;
  }

  std::int64_t measure(Measure measure, const LoadedChunk& in, const EventSource& source, const Row& row) {
    const EventReader& reader = source.reader;
    switch (measure) {
      case Measure::events:
        return n_events(source, row);
      case Measure::period: {
        if (reader.has(slot::period)) return reader.period_ns(in.chunk, row);
        if (!source.interval) {
          ++n_without_interval_;
          return 0;
        }
        std::int64_t product = 0;
        if (!mul_overflows(n_events(source, row), *source.interval, product)) return product;
        ++n_clamped_;
        return INT64_MAX;
      }
      case Measure::duration:
        return reader.has(slot::duration) ? reader.duration_ns(in.chunk, row) : 0;
      case Measure::represented:
        return represented(reader, row);
      case Measure::size:
        return reader.has(slot::size) ? size_of(row.numbers[slot::size]) : 0;
      case Measure::held_events:
      case Measure::held_size:
        break;
    }
    return 0;
  }

  std::int64_t represented(const EventReader& reader, const Row& row) {
    if (reader.has(slot::tlab)) return size_of(row.numbers[slot::tlab]);
    const std::int64_t size = reader.has(slot::size) ? size_of(row.numbers[slot::size]) : 0;
    if (!reader.has(slot::weight)) return size;
    if (!reader.weight_is_float()) return size_of(row.numbers[slot::weight]);
    // A weight that is a factor: how many objects like this one the sample stands for.
    const double bytes = std::bit_cast<double>(row.numbers[slot::weight]) * static_cast<double>(size);
    if (bytes >= 0 && bytes < 9.2e18) return std::llround(bytes);
    ++n_clamped_;
    return 0;
  }

  LabelSetId labels(const EventSource& source, const Row& row, StackResolver& stacks, Writer& writer) {
    labels_.clear();
    ProfileBuilder& builder = writer.builder;
    for (const LabelField& field : source.reader.labels()) {
      Label label{.key = builder.string(field.key)};
      if (field.kind == LabelField::Kind::number) {
        label.is_number = true;
        label.number = static_cast<std::int64_t>(row.numbers[field.slot]);
        if (label.number == 0) continue;
      } else if (field.kind == LabelField::Kind::pooled) {
        label.text = stacks.text(field.cls, row.numbers[field.slot]);
      } else {
        label.text = stacks.inline_text(row.texts[field.slot]);
      }
      if (!label.is_number && label.text.v == 0) continue;
      labels_.push_back(label);
    }
    if (source.family == Family::alloc)
      labels_.push_back({.key = builder.string("tlab"),
                         .text = builder.string(source.reader.has(slot::tlab) ? "inside" : "outside")});
    return labels_.empty() ? LabelSetId{0u} : builder.label_set(labels_);
  }

  // In order of time: a block is held when no Free of its address follows.
  void write_mallocs() {
    auto& writer = writers_[static_cast<std::size_t>(Family::malloc)];
    if (!writer) return;
    std::stable_sort(blocks_.begin(), blocks_.end(),
                     [](const BlockEvent& a, const BlockEvent& b) { return a.time < b.time; });
    std::unordered_map<std::uint64_t, std::uint32_t> held;
    for (const BlockEvent& block : blocks_) {
      if (block.malloc == kNone)
        held.erase(block.address);
      else
        held[block.address] = block.malloc;
    }
    std::vector<std::uint8_t> is_held(writer->mallocs.size());
    for (const auto& [address, index] : held) is_held[index] = 1;
    for (std::size_t i = 0; i < writer->mallocs.size(); ++i) {
      const MallocEvent& event = writer->mallocs[i];
      std::array<std::int64_t, 4> values{};
      for (std::size_t m = 0; m < writer->measures.size(); ++m) {
        const Measure measure = writer->measures[m];
        if (measure == Measure::events) values[m] = 1;
        if (measure == Measure::size) values[m] = event.size;
        if (measure == Measure::held_events) values[m] = is_held[i];
        if (measure == Measure::held_size) values[m] = is_held[i] ? event.size : 0;
      }
      writer->builder.add_sample(
          event.context, std::span<const std::int64_t>(values).first(writer->measures.size()), event.where);
    }
  }

  void report() {
    StackCounts stacks;
    for (auto& writer : writers_) {
      if (!writer) continue;
      stacks.missing += writer->stacks.missing;
      stacks.without += writer->stacks.without;
      stacks.truncated += writer->stacks.truncated;
      stacks.unknown_methods += writer->stacks.unknown_methods;
      stacks.placed += writer->stacks.placed;
      if (writer->stacks.indices > 0)
        writer->builder.info().properties.emplace_back(kBytecodeProperty, kBytecodePlusOne);
    }
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         std::uint64_t n) { context_.report.add(kind, severity, message, std::nullopt, n); };
    row("missing-stack", Severity::loss, "events name a stack that the recording does not hold",
        stacks.missing);
    row("no-stack", Severity::info, "events were recorded without a stack", stacks.without);
    row("truncated-stack", Severity::info,
        "stacks were cut by the recorder; [truncated] stands for the frames that are missing",
        stacks.truncated);
    row("unknown-method", Severity::loss, "frames name a method that the recording does not hold",
        stacks.unknown_methods);
    row("file-of-class", Severity::info,
        "the format names no source files: that of a method is the one that its class says by Java's and "
        "Kotlin's "
        "rules (com.acme.Foo$Bar: com/acme/Foo.java)",
        stacks.placed);
    row("lost-samples", Severity::loss, "samples of CPU time were lost while they were recorded", n_lost_);
    row("data-loss", Severity::loss, "times the recorder had no room for events and dropped them",
        n_data_losses_);
    row("cut-event", Severity::loss, "events that are no samples end early and were dropped", n_cut_notes_);
    row("no-interval", Severity::loss, "samples of a chunk that does not say its interval count no time",
        n_without_interval_);
    row("negative-value", Severity::loss, "negative sizes and counts were taken as 0", n_negative_);
    row("value-too-large", Severity::loss, "values too large for 64 bits were clamped", n_clamped_);
    std::uint64_t n = 0;
    std::vector<std::string> names;
    for (const auto& [name, count] : others_) {
      n += count;
      if (names.size() < 12) names.push_back(fmt::format("{} ({})", name, count));
    }
    if (others_.size() > names.size()) names.push_back("…");
    row("other-events", Severity::info,
        fmt::format("events that say how things were set up were not read: {}", fmt::join(names, ", ")), n);
  }

  struct Can {
    bool present = false, interval = false, size = false, duration = false;
  };

  const Recording& recording_;
  ReadContext& context_;
  std::string event_;
  std::vector<Sources> sources_;                                        // by chunk
  using Single = std::pair<std::uint64_t, std::optional<EventReader>>;  // the id of a class and its reader
  std::vector<Single> free_ids_;                                        // by chunk: profiler.Free
  std::vector<Single> lost_ids_;                                        // by chunk: jdk.CPUTimeSamplesLost
  std::array<Can, kNFamilies> can_{};
  std::array<std::optional<Writer>, kNFamilies> writers_;
  std::vector<BlockEvent> blocks_;
  std::map<std::string, std::uint64_t> others_;
  std::vector<Label> labels_;
  std::uint64_t n_frees_ = 0, n_lost_ = 0, n_data_losses_ = 0, n_cut_notes_ = 0, n_without_interval_ = 0,
                n_negative_ = 0, n_clamped_ = 0;
};

}  // namespace

Result<void> convert(const Recording& recording, ReadContext& context,
                     std::vector<ProfileBuilder>& profiles) {
  if (recording.chunks.empty()) return fail(ErrorCode::truncated, "no chunk of the recording can be read", 0);
  return Conversion(recording, context).run(profiles);
}

}  // namespace profd::jfr
