// Papyrus stack logs (Skyrim's script profiler): `MS:EVENT:STACK:DEPTH:OBJECT:FUNCTION`, one event a line.
// PUSH and POP are calls; QUEUE_PUSH says that a call waits for its turn.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "core/support/text.h"
#include "formats/support/call_spans.h"
#include "formats/support/line_reader.h"
#include "formats/support/stack_text.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".papyrus.log"};
constexpr ReaderNotes kNotes{
    .versions = "Skyrim's stack log",
    .keeps = "wall time by call, waiting as frames of its own, stacks as threads",
    .recording = "in a script: Debug.StartStackProfiling",
    .verified = "speedscope's snapshot of one corpus file",
};

struct Event {
  std::int64_t ms = 0, stack = 0;
  std::string_view kind, object, function;
};

bool parse_event(std::string_view line, Event& out) {
  std::array<std::string_view, 6> cells;
  std::size_t n = 0;
  for (; n < 5; ++n) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) break;
    cells[n] = line.substr(0, colon);
    line.remove_prefix(colon + 1);
  }
  cells[n++] = line;
  if (n < 3 || !parse_int(cells[0], out.ms) || !parse_int(cells[2], out.stack) || out.ms < 0 ||
      out.ms > (std::int64_t{1} << 43))
    return false;
  out.kind = cells[1];
  out.object = cells[4];
  out.function = cells[5];
  return out.kind.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string_view::npos &&
         !out.kind.empty();
}

class Reading {
 public:
  Reading(const DecodedText& text, bool truncated, ReadContext& context, ProfileBuilder& builder)
      : text_(text), truncated_(truncated), context_(context), builder_(builder) {}

  Result<void> run() {
    builder_.info().producer = "Papyrus";
    builder_.add_metric("wall", "nanoseconds");
    LineReader lines(text_.text);
    for (std::string_view line; lines.next(line);) {
      if (!lines.ended() && truncated_) break;
      const std::uint64_t offset = text_.offset + lines.offset();
      Event event;
      if (parse_event(line, event))
        PROFD_CHECK(read_event(event, offset));
      else if (!trim(line).empty() && line.find(" log opened") == std::string_view::npos &&
               line != "Log closed")
        malformed_.count(offset);
      if (n_events_ % 65536 == 0) PROFD_CHECK(context_.stop.status());
    }
    if (n_events_ == 0)
      return fail(ErrorCode::malformed, "there is no event: no line reads `MS:EVENT:STACK:…`", 0);
    for (auto& [id, stack] : stacks_) {
      n_open_ += static_cast<std::uint64_t>(std::count_if(stack.calls.begin(), stack.calls.end(),
                                                          [](const Call& call) { return !call.queue; }));
      stack.spans.finish(ns(last_));
      n_calls_ += stack.n_pushed;
    }
    builder_.info().duration_ns = ns(last_);
    malformed_.report(context_.report, "malformed-line", Severity::loss,
                      "lines that are no event were not read");
    unmatched_.report(context_.report, "end-without-begin", Severity::info,
                      "ends of calls that began before the log were not read");
    backwards_.report(context_.report, "time-backwards", Severity::loss,
                      "times that run backwards count as no time");
    context_.report.add("open-call", Severity::info, "calls without an end last until the end of the log",
                        std::nullopt, n_open_);
    builder_.set_n_samples(n_calls_);
    return {};
  }

 private:
  struct Call {
    FrameId frame;
    bool queue = false;  // the time a call waited, around the call
  };
  struct Stack {
    CallSpans spans;
    std::string_view queued;  // waits since queued_at; "" none
    std::int64_t queued_at = 0, last = 0;
    std::uint64_t n_pushed = 0;
    std::vector<Call> calls;  // open ones, below the frame of the stack itself
  };

  std::int64_t ns(std::int64_t ms) const { return (ms - *first_) * 1'000'000; }

  Result<void> read_event(const Event& event, std::uint64_t offset) {
    ++n_events_;
    if (!first_) first_ = event.ms;
    if (event.ms < last_) backwards_.count(offset);
    last_ = std::max(last_, event.ms);
    Stack& stack = stack_of(event.stack);
    const std::int64_t at = last_;
    if (event.kind == "QUEUE_PUSH") {
      stack.queued = event.function;
      stack.queued_at = at;
    } else if (event.kind == "PUSH") {
      if (stack.spans.depth() >= context_.limits.stack_depth)
        return fail(ErrorCode::limit, "a stack is deeper than the limit stack_depth", offset);
      if (!stack.queued.empty() && same_function(stack.queued, event.function) &&
          stack.queued_at >= stack.last) {
        const FrameId queue = builder_.frame(
            {.function = builder_.function(fmt::format("QUEUE {}", repair_utf8(event.function)))});
        stack.spans.enter(queue, ns(stack.queued_at));
        stack.calls.push_back({queue, true});
      }
      stack.queued = {};
      stack.spans.enter(frame_of(event), ns(at));
      stack.calls.push_back({frame_of(event), false});
      ++stack.n_pushed;
      stack.last = at;
    } else if (event.kind == "POP") {
      const FrameId frame = frame_of(event);
      const auto found = std::find_if(stack.calls.rbegin(), stack.calls.rend(),
                                      [&](const Call& call) { return call.frame == frame && !call.queue; });
      if (found == stack.calls.rend()) {
        unmatched_.count(offset);
        return {};
      }
      // With it end the calls it made, and its waiting.
      auto keep = static_cast<std::size_t>(stack.calls.rend() - found) - 1;
      if (keep > 0 && stack.calls[keep - 1].queue) --keep;
      for (; stack.calls.size() > keep; stack.calls.pop_back()) stack.spans.leave(ns(at));
      stack.last = at;
    }
    return {};
  }

  // The waiting call is named "Class.??.Function", the running one "Class..Function".
  static bool same_function(std::string_view queued, std::string_view pushed) {
    std::size_t at = 0;
    for (const char c : queued) {
      if (c == '?') continue;
      if (at >= pushed.size() || pushed[at] != c) return false;
      ++at;
    }
    return at == pushed.size();
  }

  FrameId frame_of(const Event& event) {
    return builder_.frame(
        {.function = builder_.function(event.function.empty() ? "(unnamed)" : event.function)});
  }

  Stack& stack_of(std::int64_t id) {
    const auto found = stacks_.find(id);
    if (found != stacks_.end()) return found->second;
    const std::string name = fmt::format("STACK {}", id);
    SampleContext where;
    where.thread = builder_.thread({.name = name, .tid = id});
    Stack& stack = stacks_.emplace(id, Stack{CallSpans(builder_, where), {}, 0, 0, 0, {}}).first->second;
    stack.spans.enter(builder_.frame({.function = builder_.function(name)}), ns(last_));
    return stack;
  }

  const DecodedText& text_;
  bool truncated_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::map<std::int64_t, Stack> stacks_;
  std::optional<std::int64_t> first_;
  std::int64_t last_ = 0;
  std::uint64_t n_events_ = 0, n_open_ = 0, n_calls_ = 0;
  OddLines malformed_, unmatched_, backwards_;
};

class PapyrusReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "papyrus", "Papyrus stack log", kExtensions, 622, "Skyrim's script profiler", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text = sniff_text(prefix);
    const std::string_view first = first_line(text);
    if (first.find("log opened (PC)") != std::string_view::npos) return Confidence::certain;
    LineReader lines(text);
    Event event;
    int n = 0;
    for (std::string_view line; n < 3 && lines.next(line); ++n)
      if (!parse_event(line, event)) return Confidence::no;
    return n == 3 ? Confidence::maybe : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, source.truncated(), context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_papyrus_reader() {
  return std::make_unique<PapyrusReader>();
}

}  // namespace profd
