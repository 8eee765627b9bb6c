// gprofng and Oracle Developer Studio experiments (NAME.er): a folder with log.xml, map.xml and packet files.
// docs/formats/gprofng.md says what is read and what is lost.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "formats/gprofng/log.h"
#include "formats/gprofng/packets.h"
#include "formats/support/byte_cursor.h"

namespace profd {
namespace {

using namespace gprofng;

constexpr std::array<std::string_view, 1> kExtensions{".er/log.xml"};
constexpr ReaderNotes kNotes{
    .versions = "experiments of version 12 (binutils 2.39 and later, Developer Studio)",
    .keeps =
        "clock, heap, synchronisation, I/O and counters by stack, thread and time; modules and offsets, no "
        "names of functions",
    .recording = "gprofng collect app -o test.1.er ./app",
    .verified = "gprofng display text 2.40: ticks, bytes, allocations, leaks",
};
constexpr std::string_view kLog = "log.xml";

enum PacketType : std::uint32_t {
  kProf = 1,
  kSync = 2,
  kHardware = 3,
  kHardwareX = 4,
  kHeap = 5,
  kOldProf = 8,
  kIo = 19,
};

std::uint64_t value_of(std::span<const std::byte> packet, const Field& field) {
  if (!field.known) return 0;
  ByteCursor in(packet);
  in.skip(field.offset);
  return field.size == 4 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(in.i32())) : in.u64();
}

std::string_view state_name(std::uint64_t state) {
  constexpr std::array<std::string_view, 12> kNames{
      "user cpu",  "system cpu", "trap cpu", "text page fault", "data page fault", "kernel page fault",
      "user lock", "sleep",      "wait cpu", "stopped",         "total cpu",       "kernel cpu"};
  return state < kNames.size() ? kNames[state] : std::string_view("other state");
}

// One measurement, before the metrics are declared.
struct Event {
  std::uint64_t stack = 0;
  std::int64_t time = 0, thread = -1;
  std::array<std::pair<std::uint32_t, std::int64_t>, 3> values;
  std::uint32_t n_values = 0;
};

// An experiment; `prefix` is its folder inside the one that was opened.
class Experiment {
 public:
  Experiment(const Folder& folder, std::string prefix, ReadContext& context)
      : folder_(folder), prefix_(std::move(prefix)), context_(context) {}

  Result<void> run(std::vector<ProfileBuilder>& profiles) {
    PROFD_TRY(const ByteSource log, folder_.open(prefix_ + std::string(kLog)));
    auto parsed = read_log(log.text(), context_);
    if (!parsed) return in_file(std::move(parsed).error(), kLog);
    log_ = std::move(*parsed);
    if (folder_.has(prefix_ + "map.xml")) {
      PROFD_TRY(const ByteSource map, folder_.open(prefix_ + "map.xml"));
      auto segments = read_map(map.text(), context_);
      if (!segments) return in_file(std::move(segments).error(), "map.xml");
      segments_ = std::move(*segments);
    } else {
      context_.report.add("no-map", Severity::loss, "map.xml is missing: addresses have no module.");
    }
    Stacks stacks;
    if (folder_.has(prefix_ + "data.frameinfo")) {
      PROFD_TRY(const ByteSource frames, folder_.open(prefix_ + "data.frameinfo"));
      PROFD_TRY(stacks, Stacks::read(frames.bytes(), log_.is_32_bit, context_));
    } else {
      context_.report.add("no-stacks", Severity::loss,
                          "data.frameinfo is missing: there are no call stacks.");
    }
    PROFD_CHECK(read_events());
    PROFD_CHECK(add_samples(stacks));
    for (const std::string& warning : log_.warnings)
      context_.report.add(
          "collector-warning", Severity::info,
          fmt::format("The collector warned: {}. (A timer that was reset makes times too small.)", warning));
    describe();
    profiles.push_back(std::move(builder_));
    return {};
  }

 private:
  tl::unexpected<Error> in_file(Error error, std::string_view file) const {
    error.where.push_back(error.offset ? fmt::format("{}{} at byte {}", prefix_, file, *error.offset)
                                       : prefix_ + std::string(file));
    error.offset.reset();
    return tl::unexpected<Error>(std::move(error));
  }

  std::uint32_t metric(std::string_view name, std::string_view unit) {
    for (std::uint32_t i = 0; i < metrics_.size(); ++i)
      if (metrics_[i].first == name) return i;
    metrics_.emplace_back(name, unit);
    return static_cast<std::uint32_t>(metrics_.size() - 1);
  }

  Result<void> read_events() {
    std::vector<std::string> files;
    for (const PacketKind& packet : log_.packets)
      if (std::find(files.begin(), files.end(), packet.file) == files.end()) files.push_back(packet.file);
    std::uint64_t n_other = 0;
    for (const std::string& file : files) {
      if (file.empty() || !folder_.has(prefix_ + file)) continue;
      PROFD_TRY(const ByteSource source, folder_.open(prefix_ + file));
      std::vector<Allocation> allocations;
      PROFD_CHECK(for_packets(source.bytes(), context_,
                              [&](std::uint32_t type, std::span<const std::byte> packet, std::uint64_t) {
                                for (const PacketKind& kind : log_.packets) {
                                  if (kind.file != file || kind.kind != type) continue;
                                  if (!event(kind, packet, allocations)) ++n_other;
                                  return;
                                }
                                ++n_other;
                              }));
      find_leaks(allocations);
    }
    if (n_other > 0)
      context_.report.add("packet-not-read", Severity::loss,
                          "Packets are of a kind that is not read (races, deadlocks, OpenMP, MPI).",
                          std::nullopt, n_other);
    return {};
  }

  struct Allocation {
    std::size_t event;
    std::uint64_t type, size, address, old_address;
  };

  bool event(const PacketKind& kind, std::span<const std::byte> packet,
             std::vector<Allocation>& allocations) {
    Event e;
    e.stack = value_of(packet, kind.field("FRINFO"));
    e.time = static_cast<std::int64_t>(value_of(packet, kind.field("TSTAMP")));
    e.thread = static_cast<std::int64_t>(value_of(packet, kind.field("LWPID")));
    const auto add = [&](std::string_view name, std::string_view unit, std::int64_t value) {
      if (value != 0 && e.n_values < e.values.size()) e.values[e.n_values++] = {metric(name, unit), value};
    };
    switch (kind.kind) {
      case kProf:
      case kOldProf: {
        std::int64_t ns = 0;
        const auto ticks = static_cast<std::int64_t>(value_of(packet, kind.field("NTICK")));
        if (mul_overflows(ticks, kind.ptimer_us * 1000, ns)) ns = 0;
        add(state_name(value_of(packet, kind.field("MSTATE"))), "nanoseconds", ns);
        break;
      }
      case kSync: {
        const auto asked = static_cast<std::int64_t>(value_of(packet, kind.field("SRQST")));
        std::int64_t waited = 0;
        if (__builtin_sub_overflow(e.time, asked, &waited)) waited = 0;
        add("sync wait", "nanoseconds", std::max<std::int64_t>(waited, 0));
        add("sync waits", "count", 1);
        break;
      }
      case kHardware:
      case kHardwareX: {
        const auto counts = static_cast<std::int64_t>(value_of(packet, kind.field("HWCINT")));
        add(fmt::format("hardware counter {}", value_of(packet, kind.field("HWCTAG"))), "count", counts);
        break;
      }
      case kHeap: {
        const std::uint64_t type = value_of(packet, kind.field("HTYPE"));
        const std::uint64_t size = value_of(packet, kind.field("HSIZE"));
        allocations.push_back({events_.size(), type, size, value_of(packet, kind.field("HVADDR")),
                               value_of(packet, kind.field("HOVADDR"))});
        if (type == 1 || type == 4) break;  // free, munmap: only for the leaks
        add("allocated", "bytes", static_cast<std::int64_t>(std::min<std::uint64_t>(size, INT64_MAX)));
        add("allocations", "count", 1);
        break;
      }
      case kIo: {
        add("io bytes", "bytes",
            static_cast<std::int64_t>(
                std::min<std::uint64_t>(value_of(packet, kind.field("IONBYTE")), INT64_MAX)));
        std::int64_t took = 0;
        if (kind.field("IORQST").known &&
            !__builtin_sub_overflow(e.time, static_cast<std::int64_t>(value_of(packet, kind.field("IORQST"))),
                                    &took))
          add("io time", "nanoseconds", std::max<std::int64_t>(took, 0));
        add("io calls", "count", 1);
        break;
      }
      default:
        return false;
    }
    events_.push_back(e);
    return true;
  }

  // What was allocated and not freed until the end. Blocks of threads lie side by side in the file, so time
  // decides.
  void find_leaks(std::vector<Allocation>& allocations) {
    std::stable_sort(allocations.begin(), allocations.end(), [&](const Allocation& a, const Allocation& b) {
      return events_[a.event].time < events_[b.event].time;
    });
    std::unordered_map<std::uint64_t, const Allocation*> live;
    for (const Allocation& a : allocations) {
      if (a.type == 1 || a.type == 4) {
        live.erase(a.address);
        continue;
      }
      if (a.type == 2) live.erase(a.old_address);
      if (a.address != 0 && a.size > 0) live[a.address] = &a;
    }
    for (const auto& [address, a] : live) {
      Event& e = events_[a->event];
      if (e.n_values < e.values.size())
        e.values[e.n_values++] = {metric("leaked", "bytes"),
                                  static_cast<std::int64_t>(std::min<std::uint64_t>(a->size, INT64_MAX))};
    }
  }

  FrameId frame_of(std::uint64_t pc) {
    const auto known = frames_.find(pc);
    if (known != frames_.end()) return known->second;
    FunctionSpec function;
    FrameSpec frame;
    const Segment* inside = nullptr;
    for (auto segment = segments_.rbegin(); segment != segments_.rend(); ++segment) {
      if (pc < segment->start || pc - segment->start >= segment->size) continue;
      if (inside == nullptr || !segment->function.empty()) inside = &*segment;
      if (!inside->function.empty()) break;
    }
    if (inside == nullptr) {
      function.unresolved = true;
      function.name = builder_.string(pc == UINT64_MAX - 1   ? std::string("<Truncated-stack>")
                                      : pc == UINT64_MAX - 2 ? std::string("<Failed-unwind>")
                                                             : fmt::format("{:#x}", pc));
      if (pc < UINT64_MAX - 2) frame.address = pc;
    } else {
      const std::string_view path = inside->name;
      frame.module = builder_.module({.name = path, .addresses = AddressKind::file_offset});
      frame.address = pc - inside->start + inside->file_offset;
      function.unresolved = inside->function.empty();
      function.name = builder_.string(
          inside->function.empty() ? fmt::format("{}+{:#x}", path.substr(path.rfind('/') + 1), frame.address)
                                   : inside->function);
      if (!inside->function.empty()) frame.kind = path == "[vdso]" ? FrameKind::native : FrameKind::jit;
    }
    frame.function = builder_.function(function);
    const FrameId id = builder_.frame(frame);
    frames_.emplace(pc, id);
    return id;
  }

  Result<void> add_samples(const Stacks& stacks) {
    if (metrics_.empty()) {
      metrics_.emplace_back("total cpu", "nanoseconds");
      context_.report.add("no-samples", Severity::info, "The experiment has no measurements.");
    }
    for (const auto& [name, unit] : metrics_) builder_.add_metric(name, unit);
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event& a, const Event& b) { return a.time < b.time; });
    std::vector<std::uint64_t> pcs;
    std::unordered_map<std::uint64_t, ContextId> contexts;
    std::unordered_map<std::int64_t, ThreadId> threads;
    std::vector<std::int64_t> row(metrics_.size());
    std::uint64_t n_without = 0;
    for (const Event& e : events_) {
      if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      if (e.n_values == 0) continue;
      auto [known, added] = contexts.emplace(e.stack, kRootContext);
      if (added) {
        if (e.stack != 0) stacks.find(e.stack, pcs);
        if (e.stack == 0) pcs.clear();
        ContextId at = kRootContext;
        for (std::size_t i = pcs.size(); i-- > 0;)
          if (pcs[i] != UINT64_MAX) at = builder_.context(at, frame_of(pcs[i]));  // a mark, not an address
        if (at == kRootContext) {
          FunctionSpec unknown;
          unknown.name = builder_.string("<Unknown>");
          unknown.unresolved = true;
          at = unknown_ = builder_.context(at, builder_.frame({builder_.function(unknown)}));
        }
        known->second = at;
      }
      n_without += known->second == unknown_;
      auto [thread, is_new] = threads.emplace(e.thread, ThreadId{});
      if (is_new) {
        ThreadSpec spec;
        spec.pid = log_.pid;
        spec.tid = e.thread;
        const std::string name = fmt::format("Thread {}", threads.size());
        spec.name = name;
        thread->second = builder_.thread(spec);
      }
      std::fill(row.begin(), row.end(), 0);
      for (std::uint32_t v = 0; v < e.n_values; ++v)
        add_saturating(row[e.values[v].first], e.values[v].second);
      SampleContext where;
      where.thread = thread->second;
      std::int64_t since = e.time;
      if (log_.start_ns && !__builtin_sub_overflow(e.time, *log_.start_ns, &since)) where.time = since;
      builder_.add_sample(known->second, std::span<const std::int64_t>(row), where);
    }
    if (n_without > 0)
      context_.report.add("no-stack", Severity::loss,
                          "Measurements have no call stack; they stand under <Unknown>.", std::nullopt,
                          n_without);
    return {};
  }

  void describe() {
    ProfileInfo& info = builder_.info();
    info.format = "gprofng";
    info.producer = "gprofng";
    info.program = log_.command;
    info.name = prefix_;
    if (log_.epoch_s) info.time_ns = *log_.epoch_s * 1'000'000'000;
    if (!log_.host.empty()) info.properties.emplace_back("host", log_.host);
    for (const PacketKind& packet : log_.packets)
      if (packet.ptimer_us > 0 && packet.ptimer_us < INT64_MAX / 1000) {
        info.period = packet.ptimer_us * 1000;
        info.period_type = "cpu";
        info.period_unit = "nanoseconds";
      }
  }

  const Folder& folder_;
  std::string prefix_;
  ReadContext& context_;
  ProfileBuilder builder_;
  Log log_;
  std::vector<Segment> segments_;
  std::vector<Event> events_;
  std::vector<std::pair<std::string, std::string>> metrics_;
  std::unordered_map<std::uint64_t, FrameId> frames_;
  ContextId unknown_;
};

class GprofngReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "gprofng", "gprofng experiment", kExtensions, 71, "gprofng collect, Oracle Developer Studio", 1,
        kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    return is_log({reinterpret_cast<const char*>(prefix.data()), prefix.size()}) ? Confidence::certain
                                                                                 : Confidence::no;
  }
  Confidence sniff_folder(const Folder& folder) const override {
    if (!folder.has(kLog)) return Confidence::no;
    const auto log = folder.open(kLog);
    return log && is_log(log->text()) ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    if (!is_log(source.text())) return fail(ErrorCode::malformed, "this is no log.xml of an experiment", 0);
    if (context.beside != nullptr && context.beside->has(kLog))
      return read_folder(*context.beside, context, profiles);
    PROFD_CHECK(read_log(source.text(), context));
    return fail(ErrorCode::not_found,
                "log.xml alone has no measurements: a gprofng experiment is the folder NAME.er it lies in; "
                "open that");
  }

  // Processes that the program started have experiments inside its own: _f1.er, _x1.er, _f1_x2.er.
  Result<void> read_folder(const Folder& folder, ReadContext& context,
                           std::vector<ProfileBuilder>& profiles) const override {
    PROFD_CHECK(Experiment(folder, "", context).run(profiles));
    for (const std::string& file : folder.files()) {
      if (!file.ends_with(".er/log.xml") || !file.starts_with('_') ||
          file.find('/') + kLog.size() + 1 != file.size())
        continue;
      PROFD_CHECK(Experiment(folder, file.substr(0, file.size() - kLog.size()), context).run(profiles));
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_gprofng_reader() {
  return std::make_unique<GprofngReader>();
}

}  // namespace profd
