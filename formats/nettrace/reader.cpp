// .NET EventPipe traces (.nettrace): dotnet-trace, dotnet-monitor, the runtime's own DOTNET_EnableEventPipe.
// docs/formats/nettrace.md says what is read and what is lost.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/nettrace/blocks.h"

namespace profd {
namespace {

using namespace nettrace;

constexpr std::array<std::string_view, 1> kExtensions{".nettrace"};
constexpr ReaderNotes kNotes{
    .versions = "versions 4 and 5, pointers of 4 and 8 bytes; not version 6",
    .keeps = "samples, events and allocated bytes by stack, methods with signature, modules, threads, times",
    .recording = "dotnet-trace collect -p PID",
    .verified = "PerfView's event counts of one corpus file; functions and bytes by a script",
};

enum class EventKind : std::uint8_t { other, sample, allocation, method, module, rundown };

struct EventType {
  EventKind kind = EventKind::other;
  std::string name;
  std::uint32_t version = 0;
  std::uint32_t row = kNone;  // of its name, once an event of it was met
};

struct Method {
  std::uint64_t start, end, module;
  std::string name, full_name;
};

// Struct-of-arrays, in the order of the file.
struct Samples {
  std::vector<std::int64_t> thread, time, bytes;
  std::vector<std::uint32_t> stack, what;  // row of stacks, kNone: none; type or event name
  std::vector<std::uint32_t> name;         // row of event names
  std::size_t size() const { return stack.size(); }
  void add(const EventBlob& event, std::uint32_t row, std::uint32_t label, std::uint32_t event_name,
           std::int64_t n_bytes) {
    thread.push_back(event.thread);
    time.push_back(event.time);
    stack.push_back(row);
    what.push_back(label);
    bytes.push_back(n_bytes);
    name.push_back(event_name);
  }
};

// A task that events name: made by another one, over its events.
struct Activity {
  std::uint32_t parent = kNone, name = kNone;
  std::int64_t thread = 0, first = 0, last = 0;  // in ticks
};

// The runtime does not write the names of its own events.
std::string runtime_event(std::uint32_t id) {
  constexpr std::array<std::pair<std::uint32_t, std::string_view>, 14> kNames{{
      {1, "GC/Start"},
      {2, "GC/Stop"},
      {3, "GC/RestartEEStop"},
      {4, "GC/HeapStats"},
      {7, "GC/RestartEEStart"},
      {8, "GC/SuspendEEStop"},
      {9, "GC/SuspendEEStart"},
      {10, "GC/AllocationTick"},
      {13, "GC/FinalizersStop"},
      {14, "GC/FinalizersStart"},
      {80, "Exception/Start"},
      {81, "Contention/Start"},
      {91, "Contention/Stop"},
      {145, "Method/JittingStarted"},
  }};
  for (const auto& [known, name] : kNames) {
    if (known == id) return std::string(name);
  }
  return fmt::format("event {}", id);
}

class Reading final : public BlockVisitor {
 public:
  explicit Reading(ReadContext& context) : context_(context) { stack_begin_.push_back(0); }

  void trace(const TraceHeader& header) override { header_ = header; }

  Result<void> metadata(EventBlob& event) override {
    ByteCursor& in = event.payload;
    const std::uint32_t id = in.u32();
    const std::string provider = read_text(in);
    const std::uint32_t event_id = in.u32();
    std::string name = read_text(in);
    in.skip(8);  // keywords
    const std::uint32_t version = in.u32();
    if (!in.ok()) return in.status("the description of an event");
    EventType type;
    type.version = version;
    const bool rundown = provider == "Microsoft-Windows-DotNETRuntimeRundown";
    const bool runtime = provider == "Microsoft-Windows-DotNETRuntime";
    if (provider == "Microsoft-DotNETCore-SampleProfiler" && event_id == 0)
      type.kind = EventKind::sample;
    else if ((runtime || rundown) && (event_id == 143 || event_id == 144))
      type.kind = EventKind::method;
    else if ((runtime && event_id == 152) || (rundown && (event_id == 153 || event_id == 154)))
      type.kind = EventKind::module;
    else if (runtime && event_id == 10)
      type.kind = EventKind::allocation;
    else if (rundown || (runtime && event_id == 190))  // 190: where IL lies in a method
      type.kind = EventKind::rundown;
    if (name.empty()) name = runtime ? runtime_event(event_id) : fmt::format("event {}", event_id);
    type.name = provider + "/" + name;
    types_[id] = std::move(type);
    return {};
  }

  Result<void> event(EventBlob& event) override {
    const auto found = types_.find(event.metadata);
    if (found == types_.end()) {
      ++n_unknown_events_;
      return {};
    }
    EventType& type = found->second;
    switch (type.kind) {
      case EventKind::sample: {
        const std::uint32_t what = event.payload.u32();
        samples_.add(event, row_of(event.stack), event.payload.ok() ? what : 0, kNone, 0);
        break;
      }
      case EventKind::allocation:
        allocation(event, type);
        break;
      case EventKind::method:
        if (!method(event)) ++n_broken_;
        break;
      case EventKind::module:
        if (!module(event)) ++n_broken_;
        break;
      case EventKind::rundown:
        break;
      case EventKind::other:
        events_.add(event, row_of(event.stack), own_name_row(type), own_name_row(type), 0);
        note_activity(event, own_name_row(type));
        break;
    }
    return {};
  }

  Result<void> stack(std::uint32_t id, ByteCursor addresses) override {
    row_of_id_[id] = static_cast<std::uint32_t>(stack_begin_.size() - 1);
    const auto width = static_cast<std::size_t>(header_.pointer_size);
    if (addresses.left() / width > context_.limits.stack_depth)
      return fail(ErrorCode::limit, "a stack is deeper than the limit stack_depth", addresses.offset());
    while (addresses.left() >= width) addresses_.push_back(width == 8 ? addresses.u64() : addresses.u32());
    stack_begin_.push_back(addresses_.size());
    return {};
  }

  void sequence_point() override { row_of_id_.clear(); }

  Result<void> finish(std::vector<ProfileBuilder>& profiles) {
    if (samples_.size() == 0 && events_.size() == 0)
      return fail(ErrorCode::malformed,
                  "the trace has no events besides those that name methods: nothing was measured");
    std::stable_sort(methods_.begin(), methods_.end(),
                     [](const Method& a, const Method& b) { return a.start < b.start; });
    if (samples_.size() > 0) PROFD_CHECK(add_samples(profiles));
    if (events_.size() > 0) PROFD_CHECK(add_events(profiles));
    const auto row = [&](std::string_view kind, Severity severity, std::string_view sentence,
                         std::uint64_t n) {
      if (n > 0) context_.report.add(kind, severity, sentence, std::nullopt, n);
    };
    row("unknown-event", Severity::loss, "Events that the trace does not describe were dropped.",
        n_unknown_events_);
    row("broken-event", Severity::loss, "Events that name methods or modules are cut short.", n_broken_);
    row("missing-stack", Severity::loss, "Events name stacks that the trace does not have.",
        n_missing_stacks_);
    row("unknown-address", Severity::loss, "Addresses lie in no method that the trace names.", n_unknown_);
    return {};
  }

 private:
  std::uint32_t row_of(std::uint32_t id) {
    if (id == 0) return kNone;
    const auto found = row_of_id_.find(id);
    if (found != row_of_id_.end()) return found->second;
    ++n_missing_stacks_;
    return kNone;
  }

  std::uint32_t name_row(const std::string& name, bool data) {
    const auto [at, is_new] = name_rows_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.emplace_back(name, data);
    return at->second;
  }

  std::uint32_t own_name_row(EventType& type) {
    if (type.row == kNone) type.row = name_row(type.name, false);
    return type.row;
  }

  std::uint32_t activity_row(const ActivityId& id) {
    const auto [at, is_new] = activity_rows_.try_emplace(id, static_cast<std::uint32_t>(activities_.size()));
    if (is_new) activities_.emplace_back();
    return at->second;
  }

  void note_activity(const EventBlob& event, std::uint32_t name) {
    if (event.activity == ActivityId{}) return;
    // One that is not known yet comes after what made it.
    const std::uint32_t parent = event.related == ActivityId{} ? kNone : activity_row(event.related);
    const std::uint32_t row = activity_row(event.activity);
    Activity& activity = activities_[row];
    if (activity.name == kNone) {
      activity.name = name;
      activity.thread = event.thread;
      activity.first = activity.last = event.time;
    }
    if (activity.parent == kNone && parent < row) activity.parent = parent;
    activity.first = std::min(activity.first, event.time);
    activity.last = std::max(activity.last, event.time);
  }

  void add_tasks(ProfileBuilder& builder) const {
    std::vector<TaskId> tasks;
    for (const Activity& activity : activities_) {
      TaskSpec spec{.name =
                        builder.string(activity.name == kNone ? "(unnamed)" : names_[activity.name].first)};
      if (activity.parent != kNone) spec.parent = tasks[activity.parent];
      if (activity.name != kNone) {
        spec.thread = thread_of(activity.thread, builder);
        spec.begin = time_of(activity.first).value_or(kNoTime);
        spec.end = time_of(activity.last).value_or(kNoTime);
      }
      tasks.push_back(builder.timeline().add_task(spec));
    }
  }

  void allocation(EventBlob& event, EventType& type) {
    ByteCursor& in = event.payload;
    std::uint64_t amount = in.u32();
    in.u32();  // small or large
    in.u16();  // runtime instance
    std::string name;
    if (type.version >= 2) {
      amount = in.u64();
      in.skip(static_cast<std::uint64_t>(header_.pointer_size));
      name = read_text(in);
    }
    if (!in.ok()) {
      ++n_broken_;
      return;
    }
    has_allocations_ = true;
    const std::uint32_t label = name.empty() ? own_name_row(type) : name_row(name, true);
    note_activity(event, own_name_row(type));
    events_.add(event, row_of(event.stack), label, own_name_row(type),
                amount > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
                    ? std::numeric_limits<std::int64_t>::max()
                    : static_cast<std::int64_t>(amount));
  }

  bool method(EventBlob& event) {
    ByteCursor& in = event.payload;
    Method method;
    in.u64();  // id
    method.module = in.u64();
    method.start = in.u64();
    const std::uint32_t size = in.u32();
    in.skip(8);  // token, flags
    const std::string space = read_text(in), name = read_text(in), signature = read_text(in);
    if (!in.ok() || __builtin_add_overflow(method.start, std::uint64_t{size}, &method.end)) return false;
    method.name = space.empty() ? name : space + "." + name;
    method.full_name = method.name + " " + signature;
    methods_.push_back(std::move(method));
    return true;
  }

  bool module(EventBlob& event) {
    ByteCursor& in = event.payload;
    const std::uint64_t id = in.u64();
    in.skip(16);  // assembly, flags, reserved
    std::string path = read_text(in), native = read_text(in);
    if (!in.ok()) return false;
    modules_[id] = path.empty() ? std::move(native) : std::move(path);
    return true;
  }

  // The contexts of stacks in one builder.
  class Contexts {
   public:
    Contexts(Reading& reading, ProfileBuilder& builder)
        : r_(reading), builder_(builder), context_(reading.stack_begin_.size() - 1) {}

    ContextId of(std::uint32_t row) {
      if (row == kNone) return kRootContext;
      if (context_[row].valid()) return context_[row];
      const std::size_t begin = r_.stack_begin_[row], end = r_.stack_begin_[row + 1];
      ContextId at = kRootContext;
      for (std::size_t i = end; i-- > begin;) at = builder_.context(at, frame(r_.addresses_[i], i == begin));
      return context_[row] = at;
    }

   private:
    FrameId frame(std::uint64_t ip, bool leaf) {
      const auto [known, is_new] = frames_.try_emplace(ip * 2 + (leaf ? 1 : 0));
      if (!is_new) return known->second;
      FrameSpec spec;
      spec.address = ip;
      // Behind a call, which can be the last instruction of its method.
      const std::uint64_t at = leaf || ip == 0 ? ip : ip - 1;
      auto above = std::upper_bound(r_.methods_.begin(), r_.methods_.end(), at,
                                    [](std::uint64_t a, const Method& m) { return a < m.start; });
      if (above != r_.methods_.begin() && at < (above - 1)->end) {
        const Method& method = *(above - 1);
        FunctionSpec function;
        function.name = builder_.string(method.name);
        function.system_name = builder_.string(method.full_name);
        spec.function = builder_.function(function);
        spec.kind = FrameKind::jit;
        if (const auto found = r_.modules_.find(method.module);
            found != r_.modules_.end() && !found->second.empty())
          spec.module = builder_.module({found->second});
      } else {
        FunctionSpec function;
        function.name = builder_.string("[unknown]");
        function.unresolved = true;
        spec.function = builder_.function(function);
        ++r_.n_unknown_;
      }
      return known->second = builder_.frame(spec);
    }

    Reading& r_;
    ProfileBuilder& builder_;
    std::vector<ContextId> context_;
    std::unordered_map<std::uint64_t, FrameId> frames_;
  };

  SampleContext place(const Samples& samples, std::size_t i, ProfileBuilder& builder) const {
    SampleContext where;
    where.thread = thread_of(samples.thread[i], builder);
    where.time = time_of(samples.time[i]);
    return where;
  }

  ThreadId thread_of(std::int64_t tid, ProfileBuilder& builder) const {
    ThreadSpec thread;
    thread.tid = tid;
    thread.pid = header_.process_id;
    return builder.thread(thread);
  }

  std::optional<std::int64_t> time_of(std::int64_t ticks) const {
    if (header_.ticks_per_second <= 0) return std::nullopt;
    __extension__ using Wide = __int128;
    const Wide ns =
        (static_cast<Wide>(ticks) - header_.start_ticks) * 1'000'000'000 / header_.ticks_per_second;
    if (ns > std::numeric_limits<std::int64_t>::max() || ns < std::numeric_limits<std::int64_t>::min())
      return std::nullopt;
    return static_cast<std::int64_t>(ns);
  }

  void describe(ProfileBuilder& builder, std::string_view name) const {
    ProfileInfo& info = builder.info();
    info.name = name;
    info.format = "nettrace";
    info.producer = ".NET EventPipe";
    info.time_ns = header_.start_ns;
  }

  Result<void> add_samples(std::vector<ProfileBuilder>& profiles) {
    ProfileBuilder builder;
    const bool timed = header_.sampling_ns > 0;
    builder.add_metric("samples", "count");
    if (timed) {
      builder.set_default_metric(builder.add_metric("time", "nanoseconds"));
      builder.info().period = header_.sampling_ns;
      builder.info().period_type = "time";
      builder.info().period_unit = "nanoseconds";
    }
    Contexts contexts(*this, builder);
    std::array<LabelSetId, 3> labels{};
    constexpr std::array<std::string_view, 3> kTypes{"error", "external", "managed"};
    for (std::uint32_t i = 0; i < labels.size(); ++i) {
      Label label;
      label.key = builder.string("sample_type");
      label.text = builder.string(kTypes[i]);
      labels[i] = builder.label_set({&label, 1});
    }
    const std::array<std::int64_t, 2> values{1, header_.sampling_ns};
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if ((i & 4095) == 4095) PROFD_CHECK(context_.stop.status());
      SampleContext where = place(samples_, i, builder);
      if (samples_.what[i] < labels.size()) where.labels = labels[samples_.what[i]];
      builder.add_sample(contexts.of(samples_.stack[i]), std::span(values).first(timed ? 2 : 1), where);
    }
    describe(builder, "CPU samples");
    profiles.push_back(std::move(builder));
    return {};
  }

  Result<void> add_events(std::vector<ProfileBuilder>& profiles) {
    ProfileBuilder builder;
    builder.add_metric("events", "count");
    if (has_allocations_) builder.add_metric("alloc_space", "bytes");
    Contexts contexts(*this, builder);
    std::vector<FrameId> leaves(names_.size());
    std::vector<bool> is_leaf(names_.size(), false);
    for (const std::uint32_t what : events_.what) is_leaf[what] = true;
    for (std::size_t row = 0; row < names_.size(); ++row) {
      if (!is_leaf[row]) continue;
      const auto& [name, data] = names_[row];
      FrameSpec spec;
      spec.function = builder.function(name);
      if (data) spec.kind = FrameKind::data_object;
      leaves[row] = builder.frame(spec);
    }
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if ((i & 4095) == 4095) PROFD_CHECK(context_.stop.status());
      const std::array<std::int64_t, 2> values{1, events_.bytes[i]};
      const SampleContext where = place(events_, i, builder);
      const ContextId context = builder.context(contexts.of(events_.stack[i]), leaves[events_.what[i]]);
      builder.add_sample(context, std::span(values).first(has_allocations_ ? 2 : 1), where);
      if (!where.time) continue;
      const std::string& name = names_[events_.name[i]].first;
      const std::size_t slash = name.find('/');
      builder.timeline().add_marker({.begin = *where.time,
                                     .end = *where.time,
                                     .name = builder.string(std::string_view(name).substr(slash + 1)),
                                     .category = builder.string(std::string_view(name).substr(0, slash)),
                                     .thread = where.thread,
                                     .context = context});
    }
    add_tasks(builder);
    describe(builder, "events");
    profiles.push_back(std::move(builder));
    return {};
  }

  ReadContext& context_;
  TraceHeader header_;
  std::unordered_map<std::uint32_t, EventType> types_;
  std::unordered_map<std::uint32_t, std::uint32_t> row_of_id_;  // of stacks, until the next sequence point
  std::vector<std::uint64_t> addresses_;                        // of all stacks, leaf first
  std::vector<std::size_t> stack_begin_;                        // by row; one more than rows
  std::vector<Method> methods_;
  std::unordered_map<std::uint64_t, std::string> modules_;
  std::unordered_map<std::string, std::uint32_t> name_rows_;
  std::vector<std::pair<std::string, bool>> names_;  // of events and types; true: a type
  Samples samples_, events_;
  std::map<ActivityId, std::uint32_t> activity_rows_;
  std::vector<Activity> activities_;
  bool has_allocations_ = false;
  std::uint64_t n_unknown_events_ = 0, n_broken_ = 0, n_missing_stacks_ = 0, n_unknown_ = 0;
};

class NettraceReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "nettrace", ".NET EventPipe trace", kExtensions, 80, "dotnet-trace, dotnet-monitor", 2, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    static_cast<void>(at_end);
    constexpr std::string_view kMagic = "Nettrace";
    const std::string_view begin(reinterpret_cast<const char*>(prefix.data()),
                                 std::min(prefix.size(), kMagic.size()));
    return begin == kMagic ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    Reading reading(context);
    PROFD_CHECK(walk(source.bytes(), reading, context));
    return reading.finish(profiles);
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_nettrace_reader() {
  return std::make_unique<NettraceReader>();
}

}  // namespace profd
