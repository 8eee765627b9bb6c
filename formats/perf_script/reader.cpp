// The text that `perf script` prints: a header line a sample, then its frames, leaf first, then a blank
// line. docs/formats/perf-script.md has the grammar, and what is kept and lost.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/perf_script/comment.h"
#include "formats/perf_script/frame_line.h"
#include "formats/perf_script/header.h"
#include "formats/perf_script/lines.h"
#include "formats/support/code_symbol.h"
#include "formats/support/each_line.h"
#include "formats/support/line_reader.h"
#include "formats/support/perf_event_state.h"
#include "formats/support/scheduler_events.h"
#include "formats/support/text_rows.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

using namespace perf_script;

constexpr std::array<std::string_view, 4> kExtensions{".perf", ".perf.txt", ".linux-perf.txt", ".script"};
constexpr ReaderNotes kNotes{
    .versions = "any -F that prints stacks, with the events of --show-...-events; simpleperf report-sample",
    .keeps =
        "every event with its period, threads, times, processor, lines, modules, inlining; JIT and kernel "
        "frames told apart",
    .recording = "perf record -g ./app && perf script > out.perf",
    .verified = "perf's own counts, stackcollapse-perf.pl and inferno, on 34 corpus files",
};
// A value per event and sample is kept; this bounds what a hostile file can ask for.
constexpr std::size_t kMaxEvents = 128;
constexpr std::size_t kMaxCells = std::size_t{1} << 28;

// Time and task clocks count nanoseconds.
std::string_view unit_of(std::string_view event) {
  const std::string_view base = event.substr(0, event.find_first_of(":/"));
  return base == "cpu-clock" || base == "task-clock" || base == "offcpu-time" ? "nanoseconds" : "count";
}

class Reading {
 public:
  Reading(const DecodedText& text, bool truncated, ReadContext& context, ProfileBuilder& builder)
      : text_(text), truncated_(truncated), context_(context), builder_(builder), lines_(text.text) {}

  Result<void> run() {
    bare_ = !has_headers(text_.text);
    pasted_ = !bare_ && lost_indentation(text_.text);
    PROFD_CHECK(each_line(lines_, context_, {.step = 2u << 20, .cut_off = truncated_},
                          [&](std::string_view line) { return read_line(line); }));
    end_sample();
    if (samples_.empty())
      return fail(ErrorCode::malformed, "there is no sample: no line reads `comm pid time: event:`", 0);
    return build();
  }

 private:
  struct Counter {
    std::uint64_t n = 0;
    std::size_t first = 0;
  };
  struct Sample {
    std::uint64_t stack_end = 0;
    std::int64_t value = 1;
    std::int64_t time = kNoTime;
    ThreadId thread;
    LabelSetId labels{0u};
    std::uint32_t event = 0;
  };
  struct Event {
    std::string_view name;
    std::uint64_t n = 0, n_with_period = 0;
  };
  // What the text of a frame stands for: frames_[first .. first + n), leaf first.
  struct Meaning {
    std::uint32_t first = 0;
    std::uint32_t n = 0;
    bool inlined_into_next = false;  // its module is that of the frame below it in the text
    bool is_interrupt_entry = false;
  };
  struct Thread {
    ThreadId id;
    FrameId process;
    std::int64_t tid = -1;
  };
  static constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

  void count(Counter& counter, std::size_t offset) const {
    if (counter.n++ == 0) counter.first = text_.offset + offset;
  }

  Result<void> read_line(std::string_view line) {
    const bool indented = !line.empty() && (line[0] == '\t' || line[0] == ' ');
    if (bare_ && !line.empty() && line[0] != '\t' && !is_blank_line(line) && line[0] != '#')
      return begin_bare_sample(line);
    if (pasted_ && in_sample_ && looks_like_pasted_frame(line) && !parse_header(line)) {
      count(pasted_frames_, lines_.offset());
      return read_frame(line);
    }
    if (indented && looks_like_frame(line)) {
      // With -F ip,sym an empty line is all there is to begin a sample.
      if (bare_ && !in_sample_) PROFD_CHECK(begin_sample(Header{}));
      if (in_sample_) return read_frame(line);
    }
    if (line.empty() || is_blank_line(line)) {
      end_sample();
      return {};
    }
    if (is_instruction(line)) {
      count(instructions_, lines_.offset());
      return {};
    }
    if (is_registers(line)) {
      count(registers_, lines_.offset());
      return {};
    }
    if (line[0] == '#') {
      read_comment(line, builder_.info());
      return {};
    }
    if (line[0] == '|') {  // -F +srccode: the text of the source line
      count(source_code_, lines_.offset());
      return {};
    }
    if (const auto header = parse_header(line)) {
      if (!header->is_event_record()) return begin_sample(*header);
      return note_event_record();
    }
    // --show-round-events; --show-namespace-events goes on in indented lines.
    if (line.starts_with("PERF_RECORD_") || (indented && in_event_record_)) return note_event_record();
    if (indented && in_sample_ && line.find("/0x") != std::string_view::npos)
      count(branches_, lines_.offset());
    else
      count(looks_like_frame(line) ? orphans_ : malformed_, lines_.offset());
    return {};
  }

  Result<void> note_event_record() {
    end_sample();
    in_event_record_ = true;
    count(event_records_, lines_.offset());
    return {};
  }

  Result<void> begin_sample(const Header& header) {
    end_sample();
    in_event_record_ = false;
    in_sample_ = true;
    Sample& sample = current_;
    sample = {};
    const Thread thread = thread_of(header);
    sample.thread = thread.id;
    process_ = thread.process;
    if (header.time_ns) sample.time = *header.time_ns;
    if (header.cpu >= 0) sample.labels = cpu_label(header.cpu);
    PROFD_TRY(sample.event, event_of(header.event));
    ++events_[sample.event].n;
    if (header.period) {
      sample.value = *header.period;
      ++events_[sample.event].n_with_period;
    }
    const bool known = note_scheduling(header);
    return header.tail.empty() ? Result<void>{} : read_tail(header, known);
  }

  // True for a line of the scheduler, whose fields are read then.
  bool note_scheduling(const Header& header) {
    if (!header.time_ns) return false;
    const auto row = static_cast<std::uint32_t>(samples_.size());
    // A thread that has exited has none any more when it leaves its processor for the last time.
    const std::uint32_t tid =
        header.tid < 0 || header.tid >= kNone ? kNone : static_cast<std::uint32_t>(header.tid);
    const SchedulerTracepoint kind = scheduler_tracepoint(header.event);
    if (kind == SchedulerTracepoint::none) {
      if (tid != kNone && perf_event_state(header.event) == ThreadState::running)
        scheduling_.add_sample(*header.time_ns, row, tid);
      return false;
    }
    if (header.period.value_or(1) != 1) {
      scheduling_.add_sampled();
      return false;
    }
    SchedulerSwitch switched;
    SchedulerWaking woken;
    if (kind == SchedulerTracepoint::switches && parse_scheduler_switch(header.tail, switched)) {
      scheduling_.add_switch(*header.time_ns, row, switched);
      return true;
    }
    if (kind == SchedulerTracepoint::switches || !parse_scheduler_waking(header.tail, woken)) return false;
    // Its stack, which tells whether it was met in an interrupt, is read when the text goes on.
    waking_ = {*header.time_ns, tid, kind, woken};
    return true;
  }

  void end_scheduling() {
    if (!waking_) return;
    const bool in_interrupt = std::any_of(leaf_first_.begin(), leaf_first_.end(), [&](std::uint32_t row) {
      return meanings_[row].is_interrupt_entry;
    });
    scheduling_.add_waking(waking_->time, static_cast<std::uint32_t>(samples_.size()), waking_->tid,
                           in_interrupt, waking_->kind, waking_->woken);
    waking_.reset();
  }

  WaitTask wait_task(std::uint32_t tid, std::string_view name) {
    const auto known = thread_of_tid_.find(tid);
    if (known != thread_of_tid_.end()) {
      const Thread& thread = threads_[known->second];
      return {thread.id, builder_.context(kRootContext, thread.process)};
    }
    const std::string text = name.empty() ? "[no process name]" : repair_utf8(name);
    return {builder_.thread({.name = text, .tid = tid}),
            builder_.context(kRootContext, builder_.frame({.function = builder_.function(text)}))};
  }

  // Without call graphs the one frame stands on the line; a tracepoint prints its fields there, -F +addr the
  // address of the data.
  // `known`: the fields were read.
  Result<void> read_tail(const Header& header, bool known) {
    const std::string_view rest = text_.text.substr(lines_.position());
    const std::string_view next = first_line(rest);
    const bool stack_follows =
        (looks_like_frame(next) || (pasted_ && looks_like_pasted_frame(next))) && !parse_header(next);
    const std::string_view line(text_.text.data() + lines_.offset(),
                                static_cast<std::size_t>(header.tail.data() - text_.text.data()) -
                                    lines_.offset() + header.tail.size());
    const std::size_t tail_at = line.size() - header.tail.size();
    const auto frame_from = [&](std::size_t at) { return line.substr(at - 1); };
    const bool frame_like = tail_at > 0 && looks_like_frame(frame_from(tail_at)) &&
                            header.tail.find_first_of(" \t") != std::string_view::npos;
    if (!stack_follows) {
      const std::size_t address = last_address(line, tail_at);
      if (address != std::string_view::npos && address > tail_at) {
        if (!known)
          count(header.tail.starts_with("0x") || !frame_like ? tracepoint_fields_ : data_addresses_,
                lines_.offset());
        return read_flat(frame_from(address));
      }
      if (frame_like) return read_flat(frame_from(tail_at));
    } else if (frame_like) {
      count(data_addresses_, lines_.offset());
      return {};
    }
    if (known) return {};
    if (header.tail.find("/0x") != std::string_view::npos && header.tail.starts_with("0x"))
      count(branches_, lines_.offset());
    else
      count(tracepoint_fields_, lines_.offset());
    return {};
  }

  Result<void> read_flat(std::string_view frame) {
    PROFD_CHECK(read_frame(frame));
    end_sample();
    return {};
  }

  Result<void> begin_bare_sample(std::string_view line) {
    const std::size_t address = last_address(line, 0);
    if (address == std::string_view::npos) return begin_sample(parse_bare_header(line));
    PROFD_CHECK(begin_sample(parse_bare_header(line.substr(0, address))));
    return read_flat(line.substr(address - 1));
  }

  Thread thread_of(const Header& header) {
    const std::uint32_t row = thread_rows_.row(header.thread);
    if (row == threads_.size()) {
      const bool main_thread = header.pid >= 0 && header.pid == header.tid;
      ThreadSpec spec{header.comm, main_thread ? header.comm : std::string_view{}, header.tid, header.pid};
      const std::string_view name = header.comm.empty() ? "[no process name]" : header.comm;
      threads_.push_back(
          {builder_.thread(spec), builder_.frame({.function = builder_.function(name)}), header.tid});
      if (header.tid >= 0 && header.tid < kNone)
        thread_of_tid_[static_cast<std::uint32_t>(header.tid)] = static_cast<std::uint32_t>(row);
    }
    return threads_[row];
  }

  LabelSetId cpu_label(std::int64_t cpu) {
    const auto [at, is_new] = cpu_labels_.try_emplace(cpu, LabelSetId{0u});
    if (is_new) {
      const Label label{.key = builder_.string("cpu"), .is_number = true, .number = cpu};
      at->second = builder_.label_set({&label, 1});
    }
    return at->second;
  }

  Result<std::uint32_t> event_of(std::string_view name) {
    if (last_event_ < events_.size() && events_[last_event_].name == name) return last_event_;
    const auto found =
        std::find_if(events_.begin(), events_.end(), [&](const Event& e) { return e.name == name; });
    last_event_ = static_cast<std::uint32_t>(found - events_.begin());
    if (found == events_.end()) {
      if (events_.size() == kMaxEvents)
        return fail(ErrorCode::limit, fmt::format("more than {} different events in one file", kMaxEvents),
                    lines_.offset());
      events_.push_back({name});
    }
    return last_event_;
  }

  Result<void> read_frame(std::string_view line) {
    std::string_view piece = line;
    // With -F +srcline the line below belongs to the frame: both together name it.
    const std::string_view rest = text_.text.substr(lines_.position());
    if (starts_source_line(rest) && !looks_like_frame(first_line(rest))) {
      std::string_view source;
      lines_.next(source);
      piece = {line.data(), static_cast<std::size_t>(source.data() + source.size() - line.data())};
    }
    const std::uint32_t row = frame_rows_.row(piece);
    if (row == meanings_.size()) meanings_.push_back(make_frames(piece, line.size()));
    if (leaf_first_.size() >= context_.limits.stack_depth)
      return fail(
          ErrorCode::limit,
          fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
          lines_.offset());
    leaf_first_.push_back(row);
    return {};
  }

  Meaning make_frames(std::string_view piece, std::size_t line_size) {
    const std::string_view line = piece.substr(0, line_size);
    if (!is_valid_utf8(piece))
      count(invalid_utf8_, static_cast<std::size_t>(piece.data() - text_.text.data()));
    FrameLine frame = parse_frame_line(line);
    SourcePlace place;
    if (piece.size() > line_size) place = parse_source_line(piece.substr(piece.find('\n', line_size) + 1));
    frame.inlined |= place.inlined;
    if (frame.has_branches) count(branches_, static_cast<std::size_t>(piece.data() - text_.text.data()));
    Meaning meaning{static_cast<std::uint32_t>(frames_.size()), 0, frame.inlined && frame.module.empty()};
    const std::vector<CodeSymbol> symbols = code_symbols(frame.symbol, frame.module);
    for (std::size_t i = symbols.size(); i-- > 0;) {
      const CodeSymbol& symbol = symbols[i];
      FrameSpec spec;
      spec.function = builder_.function(
          FunctionSpec{.name = builder_.string(symbol.name),
                       .system_name = builder_.string(symbol.system_name),
                       .file = builder_.string(symbol.file.empty() ? place.file : symbol.file),
                       .start_line = symbol.start_line,
                       .unresolved = symbol.unresolved});
      const AddressKind kind = frame.in_file ? AddressKind::file_offset : AddressKind::loaded;
      if (!frame.module.empty()) spec.module = builder_.module({.name = frame.module, .addresses = kind});
      spec.file = builder_.string(place.file);
      spec.line = place.line;
      spec.address = frame.address;
      spec.kind = symbol.kind;
      spec.inlined = frame.inlined || i > 0;
      frames_.push_back({{}, {}, spec});
    }
    meaning.n = static_cast<std::uint32_t>(symbols.size());
    meaning.is_interrupt_entry = is_interrupt_entry(symbols.front().name);
    return meaning;
  }

  // What a call returns to, unless it is the leaf: perf says no more of where an address is from. What the
  // kernel interrupted is no caller of it.
  void mark_returns() {
    returns_.assign(leaf_first_.size(), 0);
    bool any = false, below_is_kernel = false;
    std::size_t group = 0;  // lines of one address: the inlined ones and what they are inlined into
    for (std::size_t i = 0; i < leaf_first_.size(); ++i) {
      const Meaning& meaning = meanings_[leaf_first_[i]];
      if (meaning.inlined_into_next && i + 1 < leaf_first_.size()) continue;
      const bool is_kernel = frames_[meaning.first].spec.kind == FrameKind::kernel;
      const bool is_return = any && (is_kernel || !below_is_kernel);
      std::fill(returns_.begin() + static_cast<std::ptrdiff_t>(group),
                returns_.begin() + static_cast<std::ptrdiff_t>(i + 1), is_return ? 1 : 0);
      group = i + 1;
      any = true;
      below_is_kernel = is_kernel;
    }
  }

  FrameId frame_at(std::uint32_t index, bool is_return) {
    MadeFrame& made = frames_[index];
    FrameId& id = is_return ? made.returned_to : made.exact;
    if (!id.valid()) {
      FrameSpec spec = made.spec;
      spec.is_return = is_return && spec.address != 0;
      id = builder_.frame(spec);
    }
    return id;
  }

  // The frame with the module of the frame it was inlined into.
  FrameId in_module(std::uint32_t index, bool is_return, const FrameSpec& owner) {
    const std::uint64_t key = (std::uint64_t{index} * 2 + (is_return ? 1 : 0)) << 32 | owner.module.v;
    const auto [at, is_new] = inlined_.try_emplace(key);
    if (is_new) {
      FrameSpec spec = frames_[index].spec;
      spec.is_return = is_return && spec.address != 0;
      spec.module = owner.module;
      if (spec.kind == FrameKind::native) spec.kind = owner.kind;
      at->second = builder_.frame(spec);
    }
    return at->second;
  }

  void end_sample() {
    if (!in_sample_) return;
    in_sample_ = false;
    stacks_.push_back(process_);
    mark_returns();
    const FrameSpec* owner = nullptr;
    for (std::size_t i = leaf_first_.size(); i-- > 0;) {
      const Meaning& meaning = meanings_[leaf_first_[i]];
      for (std::uint32_t f = meaning.first + meaning.n; f-- > meaning.first;) {
        const bool borrow = meaning.inlined_into_next && owner && owner->module.valid();
        const bool is_return = returns_[i] != 0;
        stacks_.push_back(borrow ? in_module(f, is_return, *owner) : frame_at(f, is_return));
        if (!meaning.inlined_into_next) owner = &frames_[f].spec;
      }
    }
    end_scheduling();
    n_without_stack_ += leaf_first_.empty();
    leaf_first_.clear();
    current_.stack_end = stacks_.size();
    samples_.push_back(current_);
  }

  Result<void> build() {
    std::vector<bool> has_metric(events_.size());
    const bool one_unnamed = events_.size() == 1 && events_[0].n_with_period == 0;
    std::vector<std::size_t> column(events_.size(), 0);
    std::vector<std::string> names;
    std::size_t n_metrics = 0;
    for (std::size_t e = 0; e < events_.size(); ++e) {
      const Event& event = events_[e];
      // Without periods an event is known only by how often it was sampled.
      if (one_unnamed || (event.name.empty() && event.n_with_period == 0)) continue;
      has_metric[e] = true;
      column[e] = n_metrics++;
      const std::string name = event.name.empty() ? "unnamed event" : repair_utf8(event.name);
      names.push_back(name);
      builder_.add_metric(name, event.n_with_period > 0 ? unit_of(event.name) : "samples");
      if (event.n_with_period > 0 && event.n_with_period < event.n)
        context_.report.add("period-missing", Severity::loss,
                            fmt::format("samples of {} without a period were counted as 1", name),
                            std::nullopt, event.n - event.n_with_period);
    }
    const std::size_t samples_column = n_metrics++;
    builder_.add_metric("samples", "count");
    builder_.set_default_metric(MetricId{0u});
    PROFD_TRY(const bool has_states,
              scheduling_.prepare(
                  n_metrics, kMaxCells - std::min(kMaxCells, samples_.size() * (n_metrics + kNWaitMetrics)),
                  context_.report));
    if (has_states) {
      scheduling_.declare(builder_, names);
      n_metrics = builder_.n_metrics();
    }
    if (one_unnamed && !events_[0].name.empty())
      builder_.info().properties.emplace_back("event", repair_utf8(events_[0].name));
    if (samples_.size() > kMaxCells / n_metrics)
      return fail(ErrorCode::limit,
                  fmt::format("{} samples of {} events are more than is kept", samples_.size(), n_metrics));

    std::int64_t first_time = std::numeric_limits<std::int64_t>::max(), last_time = kNoTime;
    for (const Sample& sample : samples_) {
      if (sample.time == kNoTime) continue;
      first_time = std::min(first_time, sample.time);
      last_time = std::max(last_time, sample.time);
    }
    if (last_time != kNoTime) builder_.info().duration_ns = last_time - first_time;

    std::vector<ThreadState> states;
    for (const Event& event : events_) states.push_back(perf_event_state(event.name));
    std::vector<std::int64_t> values(n_metrics);
    std::vector<ContextId> contexts;
    std::uint64_t begin = 0;
    for (const Sample& sample : samples_) {
      std::fill(values.begin(), values.end(), 0);
      if (has_metric[sample.event]) values[column[sample.event]] = sample.value;
      values[samples_column] = 1;
      SampleContext where;
      where.thread = sample.thread;
      where.labels = sample.labels;
      if (sample.time != kNoTime) {
        where.time = sample.time - first_time;
        where.state = states[sample.event];
      }
      const auto stack = std::span<const FrameId>(stacks_).subspan(begin, sample.stack_end - begin);
      if (has_states)
        builder_.add_sample(contexts.emplace_back(builder_.context_of(stack)), values, where);
      else
        builder_.add_sample(stack, values, where);
      begin = sample.stack_end;
    }
    if (has_states) {
      builder_.set_n_samples(samples_.size());
      PROFD_CHECK(scheduling_.write(
          builder_, first_time, [&](std::uint32_t row) { return contexts[row]; },
          [this](std::uint32_t tid, std::string_view name) { return wait_task(tid, name); }, context_.report,
          context_.stop));
    }
    if (builder_.info().producer.empty()) builder_.info().producer = "perf";
    report();
    return {};
  }

  void report() {
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         const Counter& counter) {
      context_.report.add(kind, severity, message, counter.first, counter.n);
    };
    row("malformed-line", Severity::loss, "lines that are neither a sample nor a frame were not read",
        malformed_);
    row("orphan-frame", Severity::loss, "frames after the end of a sample belong to none and were not read",
        orphans_);
    row("lost-indentation", Severity::info,
        "frames are not indented, as in a text that was pasted: lines of an address, a symbol and a module "
        "were taken for frames",
        pasted_frames_);
    row("branch-stack", Severity::info,
        "branch stacks were not read: the text has addresses in memory, perf.data where in a binary they are",
        branches_);
    row("tracepoint-fields", Severity::info, "the fields that tracepoints print were not read",
        tracepoint_fields_);
    row("event-record", Severity::info, "lines of --show-mmap-events and its kin are no samples",
        event_records_);
    row("data-address", Severity::info, "addresses of data (-F +addr) were not read", data_addresses_);
    row("instruction-bytes", Severity::info, "bytes of instructions (-F +insn) were not read", instructions_);
    row("registers", Severity::info, "registers (-F +iregs, +uregs) were not read", registers_);
    row("source-code", Severity::info, "lines of source code were skipped", source_code_);
    row("invalid-utf8", Severity::info, "frames with bytes that are no UTF-8 were repaired with U+FFFD",
        invalid_utf8_);
    context_.report.add("no-stack", Severity::info, "samples without a stack are counted to their process",
                        std::nullopt, n_without_stack_);
  }

  const DecodedText& text_;
  bool truncated_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  LineReader lines_;

  struct MadeFrame {
    FrameId exact, returned_to;  // none until it is met so
    FrameSpec spec;
  };
  TextRows frame_rows_;
  std::vector<Meaning> meanings_;  // by row of frame_rows_
  std::vector<MadeFrame> frames_;
  std::unordered_map<std::uint64_t, FrameId> inlined_;
  std::unordered_map<std::int64_t, LabelSetId> cpu_labels_;
  TextRows thread_rows_;
  std::vector<Thread> threads_;
  std::vector<Event> events_;
  std::uint32_t last_event_ = 0;

  bool bare_ = false;    // no line has a time or an event
  bool pasted_ = false;  // frames stand at the margin
  bool in_sample_ = false;
  bool in_event_record_ = false;
  Sample current_;
  FrameId process_;
  std::vector<std::uint32_t> leaf_first_;  // rows of frame_rows_
  std::vector<std::uint8_t> returns_;      // by row of leaf_first_
  std::vector<Sample> samples_;
  std::vector<FrameId> stacks_;  // root first, one after another
  std::uint64_t n_without_stack_ = 0;
  SchedulerEvents scheduling_;
  struct Waking {
    std::int64_t time = 0;
    std::uint32_t tid = 0;
    SchedulerTracepoint kind = SchedulerTracepoint::none;
    SchedulerWaking woken;
  };
  std::optional<Waking> waking_;  // of the sample that is read
  std::unordered_map<std::uint32_t, std::uint32_t> thread_of_tid_;
  Counter malformed_, orphans_, branches_, tracepoint_fields_, source_code_, invalid_utf8_, event_records_,
      instructions_, data_addresses_, registers_, pasted_frames_;
};

class PerfScriptReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "perf-script", "perf script text", kExtensions, 500, "Linux perf, simpleperf report-sample", 5,
        kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text = sniff_text(prefix);
    if (text.find('\0') != std::string_view::npos) return Confidence::no;
    if (text.starts_with("# ========") && text.substr(0, 200).find("# captured on") != std::string_view::npos)
      return Confidence::certain;
    LineReader lines(text);
    bool header_before = false;
    int n_other = 0, n_headers = 0;
    for (std::string_view line; n_other < 8 && lines.next(line);) {
      if (line.empty() || line[0] == '#' || is_blank_line(line)) continue;
      if (header_before && looks_like_frame(line)) return Confidence::certain;
      const auto header = parse_header(line);
      if (header_before && !header && looks_like_pasted_frame(line)) return Confidence::certain;
      header_before = header && (header->time_ns || header->tid >= 0);
      if (header_before && !header->tail.empty() && header->time_ns && !header->event.empty())
        return Confidence::certain;
      n_headers += header_before;
      n_other += !header_before;
    }
    // Source code and prose have a line here and there that reads like a header.
    if (n_headers > n_other) return Confidence::maybe;
    return looks_bare(text) ? Confidence::maybe : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, source.truncated(), context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_perf_script_reader() {
  return std::make_unique<PerfScriptReader>();
}

}  // namespace profd
