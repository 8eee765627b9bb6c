// MOJO, Austin's binary format (`austin -b`), versions 1 to 4: a stream of events.
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "formats/austin/samples.h"
#include "formats/support/byte_cursor.h"

namespace profd::austin {
namespace {

constexpr std::uint64_t kNewestVersion = 4;
constexpr std::int64_t kUnknownString = 1;

enum Event : std::uint8_t {
  metadata = 1,
  stack = 2,
  frame = 3,
  frame_invalid = 4,
  frame_ref = 5,
  frame_kernel = 6,
  gc = 7,
  idle = 8,
  metric_time = 9,
  metric_memory = 10,
  string = 11,
  string_ref = 12,
  stack_repeat = 13,
  task_stack = 14,
  task_waiter = 15,
  task_running = 16,
};

// What the events of one process refer to. A key that is defined again means the new thing from then on.
struct Process {
  std::unordered_map<std::int64_t, std::string_view> strings;
  std::unordered_map<std::int64_t, FrameId> frames;
  std::unordered_map<std::string_view, std::uint32_t> threads;  // row in threads_
};

struct Thread {
  ThreadId id;
  std::vector<FrameId> last_stack;  // of the sample before, for stack_repeat
};

class MojoReading {
 public:
  MojoReading(const ByteSource& source, ReadContext& context, ProfileBuilder& builder)
      : in_(source.bytes()), source_(source), context_(context), builder_(builder) {}

  Result<void> run() {
    in_.skip(3);
    const std::int64_t version = integer();
    PROFD_CHECK(in_.status("the header"));
    if (version < 1)
      return fail(ErrorCode::malformed, fmt::format("MOJO version {} does not exist", version), 3);
    if (version > static_cast<std::int64_t>(kNewestVersion))
      context_.report.add("newer-version", Severity::info,
                          "The file is of a newer version of MOJO than known; its known events were read.",
                          3);
    version_ = version;
    std::size_t reported = 0;
    while (!in_.at_end()) {
      if (in_.position() - reported >= (4u << 20)) {
        reported = in_.position();
        PROFD_CHECK(context_.stop.status());
        if (context_.progress) context_.progress(reported, source_.bytes().size());
      }
      const std::uint64_t at = in_.offset();
      if (auto read = event(at); !read) {
        // A stream that was cut holds whole samples up to there.
        const bool cut = read.error().code == ErrorCode::truncated;
        if (!cut || !(context_.partial || source_.truncated())) return read;
        context_.report.add("truncated", Severity::loss, "The file ends within an event.", at);
        break;
      }
    }
    end_sample();
    if (!samples_) return fail(ErrorCode::malformed, "the stream has no samples", in_.offset());
    report();
    return {};
  }

 private:
  // Six bits and a sign in the first byte, seven in every other; lowest first.
  std::int64_t integer() {
    const std::uint8_t first = in_.u8();
    std::uint64_t value = first & 0x3F;
    bool more = (first & 0x80) != 0;
    for (unsigned shift = 6; more && in_.ok(); shift += 7) {
      const std::uint8_t byte = in_.u8();
      const std::uint64_t bits = byte & 0x7F;
      if (shift < 63)
        value |= bits << shift;
      else if (bits != 0)
        too_large_ = true;
      if (shift > 200) too_large_ = true;
      if (too_large_) break;
      more = (byte & 0x80) != 0;
    }
    value &= 0x7FFFFFFFFFFFFFFFull;
    return (first & 0x40) != 0 ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  }

  Result<void> event(std::uint64_t at) {
    const std::uint8_t code = in_.u8();
    PROFD_CHECK(dispatch(code, at));
    if (too_large_) return fail(ErrorCode::malformed, "a number of more than 63 bits", at);
    if (!in_.ok()) return in_.status(fmt::format("event {}", code));
    return {};
  }

  Result<void> dispatch(std::uint8_t code, std::uint64_t at) {
    if (code == metadata) {
      const std::string_view key = in_.text_to_nul(), value = in_.text_to_nul();
      if (in_.ok()) apply_metadata(key, value, builder_.info(), mode_);
      return {};
    }
    if (code == stack) return begin_sample();
    // austinp defines the frames of the first stack before it.
    if (process_ == nullptr && code != frame && code != string)
      return fail(ErrorCode::malformed, fmt::format("event {} before any stack", code), at);
    Process& process = process_ != nullptr ? *process_ : before_;
    switch (code) {
      case frame:
        return define_frame(process, at);
      case frame_ref: {
        const std::int64_t key = integer();
        if (!in_.ok()) return {};
        const auto found = process_->frames.find(key);
        if (found == process_->frames.end())
          return fail(ErrorCode::malformed, "a stack refers to a frame that is not defined", at);
        if (task_frames_ > 0) {
          --task_frames_;
          return {};
        }
        return push(found->second, at);
      }
      case frame_invalid:
        ++n_invalid_;
        return push(builder_.frame({.function = builder_.function(FunctionSpec{
                                        .name = builder_.string("(invalid)"), .unresolved = true}),
                                    .kind = FrameKind::interpreted}),
                    at);
      case frame_kernel: {
        const std::string_view scope = in_.text_to_nul();
        if (!in_.ok()) return {};
        return push(make_frame({.file = "kernel", .function = scope}, builder_), at);
      }
      case gc:
        return push(gc_frame(builder_), at);
      case idle:
        values_.idle = true;
        return {};
      case metric_time:
        values_.time_us = integer();
        measured_ = true;
        return {};
      case metric_memory:
        values_.memory = integer();
        measured_ = true;
        return {};
      case string: {
        const std::int64_t key = integer();
        const std::string_view text = in_.text_to_nul();
        if (in_.ok()) process.strings[key] = text;
        return {};
      }
      case string_ref:
        integer();
        return {};
      case stack_repeat:
        return repeat(at);
      case task_stack:
        integer(), integer();
        task_frames_ = integer();
        ++n_tasks_;
        if (task_frames_ < 0) return fail(ErrorCode::malformed, "a task of a negative number of frames", at);
        return {};
      case task_waiter:
        integer(), integer();
        ++n_tasks_;
        return {};
      case task_running:
        integer();
        ++n_tasks_;
        return {};
      default:
        return fail(version_ > static_cast<std::int64_t>(kNewestVersion) ? ErrorCode::unsupported
                                                                         : ErrorCode::malformed,
                    fmt::format("event {} is unknown", code), at);
    }
  }

  Result<void> begin_sample() {
    const std::int64_t pid = integer();
    const std::int64_t interpreter = version_ >= 3 ? integer() : 0;
    const std::string_view tid = in_.text_to_nul();
    if (!in_.ok()) return {};
    end_sample();
    if (process_ == nullptr) processes_[pid] = std::move(before_);
    process_ = &processes_[pid];
    const auto [found, added] =
        process_->threads.try_emplace(tid, static_cast<std::uint32_t>(threads_.size()));
    if (added) {
      const std::string name =
          version_ >= 3 ? fmt::format("T{}:{}", interpreter, tid) : fmt::format("T{}", tid);
      threads_.push_back({builder_.thread({.name = name, .pid = pid}), {}});
    }
    thread_ = found->second;
    open_ = true;
    return {};
  }

  void end_sample() {
    if (!open_) return;
    open_ = false;
    if (!samples_) {
      samples_.emplace(builder_, mode_);
      samples_->declare();
    }
    if (!measured_) ++n_unmeasured_;
    SampleContext where;
    where.thread = threads_[thread_].id;
    samples_->add(builder_.context_of(frames_), values_, where);
    threads_[thread_].last_stack.swap(frames_);
    frames_.clear();
    values_ = {};
    measured_ = false;
    task_frames_ = 0;
  }

  Result<void> push(FrameId id, std::uint64_t at) {
    if (frames_.size() >= context_.limits.stack_depth)
      return fail(
          ErrorCode::limit,
          fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
          at);
    frames_.push_back(id);
    return {};
  }

  // The outer frames are those of the thread's last sample, without native ones at its end; what stands in
  // this sample already lies above them.
  Result<void> repeat(std::uint64_t at) {
    const std::vector<FrameId>& last = threads_[thread_].last_stack;
    std::size_t n = last.size();
    while (n > 0 && native_.contains(last[n - 1].v)) --n;
    if (n + frames_.size() > context_.limits.stack_depth)
      return fail(
          ErrorCode::limit,
          fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
          at);
    frames_.insert(frames_.begin(), last.begin(), last.begin() + static_cast<std::ptrdiff_t>(n));
    // A few bytes repeat a stack of any depth: bounded by what a file of this size may hold otherwise.
    n_repeated_ += n;
    if (n_repeated_ > 64 * source_.bytes().size() + (1u << 24))
      return fail(ErrorCode::limit, "repeated stacks outgrow the file (limit of 64 frames a byte)", at);
    return {};
  }

  Result<void> define_frame(Process& process, std::uint64_t at) {
    const std::int64_t key = integer(), file = integer(), scope = integer(), line = integer();
    std::int64_t column = 0;
    if (version_ >= 2) {
      integer();
      column = integer();
      integer();
    }
    if (!in_.ok()) return {};
    FrameSource source;
    if (!text_of(process, file, source.file) || !text_of(process, scope, source.function))
      return fail(ErrorCode::malformed, "a frame refers to a text that is not defined", at);
    if (line > 0 && line < kNone) source.line = static_cast<std::uint32_t>(line);
    if (column > 0 && column < kNone) source.column = static_cast<std::uint32_t>(column);
    const FrameId id = make_frame(source, builder_);
    process.frames[key] = id;
    const bool python =
        source.file.ends_with(".py") || (source.file.starts_with('<') && source.file.ends_with('>'));
    if (!python) native_.insert(id.v);
    return {};
  }

  static bool text_of(const Process& process, std::int64_t key, std::string_view& out) {
    const auto found = process.strings.find(key);
    if (found != process.strings.end()) {
      out = found->second;
      return true;
    }
    out = "<unknown>";
    return key == kUnknownString;
  }

  void report() {
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         std::uint64_t n) {
      if (n > 0) context_.report.add(kind, severity, message, std::nullopt, n);
    };
    row("invalid-frame", Severity::info, "Stacks have frames that Austin could not read.", n_invalid_);
    row("task-events", Severity::loss, "What asyncio tasks waited for was not read.", n_tasks_);
    row("no-metric", Severity::loss, "Samples have no value.", n_unmeasured_);
    row("time-too-large", Severity::loss, "Times do not fit 64 bits and were clamped.",
        samples_->n_clamped());
  }

  ByteCursor in_;
  const ByteSource& source_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::int64_t version_ = 0;
  Mode mode_ = Mode::unknown;
  std::optional<Samples> samples_;
  std::unordered_map<std::int64_t, Process> processes_;
  Process before_;  // what is defined before the first stack
  Process* process_ = nullptr;
  std::vector<Thread> threads_;
  std::unordered_set<std::uint32_t> native_;
  // The sample that is open.
  bool open_ = false, measured_ = false, too_large_ = false;
  std::uint32_t thread_ = 0;
  std::vector<FrameId> frames_;
  Values values_;
  std::int64_t task_frames_ = 0;
  std::uint64_t n_invalid_ = 0, n_tasks_ = 0, n_unmeasured_ = 0, n_repeated_ = 0;
};

}  // namespace

Result<void> read_mojo(const ByteSource& source, ReadContext& context, ProfileBuilder& builder) {
  return MojoReading(source, context, builder).run();
}

}  // namespace profd::austin
