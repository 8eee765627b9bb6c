#include "core/live/session.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/support/text.h"

namespace profd::live {
namespace {

constexpr std::size_t kMarkBytes = 4096;

}  // namespace

Session::Session(MeterLimits limits, std::size_t most_name_bytes)
    : methods_(most_name_bytes), meter_(limits), records_(std::make_unique<Records>()) {
  meter_.on_mark([this](Nanoseconds at, std::string_view name) { mark(at, name); });
}

void Session::mark(Nanoseconds at, std::string_view name) {
  if (marks_.size() < kMostMarks)
    marks_.push_back({at, cut_bytes(repair_utf8(name.substr(0, kMarkBytes)), kMarkBytes)});
}

Result<void> Session::consume(Bytes bytes) {
  if (broken_ || bye_ || bytes.empty()) return {};
  // What is something else altogether may end before its first message would.
  if (frames_.offset() == 0 && frames_.rest().empty() &&
      bytes[0] != static_cast<std::byte>(MessageType::hello) &&
      bytes[0] != static_cast<std::byte>(MessageType::auth)) {
    broken_ = true;
    return fail(ErrorCode::malformed, "a live stream begins with `hello`", 0);
  }
  frames_.feed(bytes);
  while (true) {
    auto frame = frames_.next();
    Result<void> taken;
    if (!frame)
      taken = tl::unexpected<Error>(std::move(frame).error());
    else if (!*frame)
      return {};
    else if (taken = take(**frame); !taken)
      taken.error().offset = (*frame)->offset;
    if (!taken) {
      broken_ = true;
      return taken;
    }
    if (bye_) return {};
  }
}

void Session::finish() {
  if (finished_ || !hello_) return;
  finished_ = true;
  meter_.finish(ended_at_);
}

Result<void> Session::take_hello(Bytes payload) {
  if (hello_) return fail(ErrorCode::malformed, "a second `hello` in a live stream");
  PROFD_TRY(Hello hello, read_hello(payload));
  if (hello.min_version > kStreamVersion || hello.max_version < kOldestStreamVersion)
    return fail(ErrorCode::unsupported,
                fmt::format("the agent speaks versions {} to {} of the live stream, this profd {} to {}",
                            hello.min_version, hello.max_version, kOldestStreamVersion, kStreamVersion));
  if (hello.ticks_per_second == 0 || hello.ticks_per_second > StreamClock::kFastest)
    return fail(ErrorCode::malformed,
                fmt::format("a clock of {} ticks a second in a live stream", hello.ticks_per_second));
  clock_ = StreamClock(hello.ticks, hello.ticks_per_second);
  last_ticks_ = hello.ticks;
  ticks_per_second_ = hello.ticks_per_second;
  for (std::string* text : {&hello.language, &hello.program, &hello.agent}) *text = repair_utf8(*text);
  hello_ = std::move(hello);
  return {};
}

Result<void> Session::take_events(Bytes payload) {
  PROFD_TRY(const EventsHead head, read_events_head(payload));
  std::uint64_t ticks = head.ticks;
  while (!payload.empty()) {
    PROFD_CHECK(read_records(payload, ticks, *records_));
    PROFD_CHECK(meter_.events(head.thread, *records_, clock_));
  }
  return {};
}

Result<void> Session::take_controlled(Bytes payload) {
  PROFD_TRY(const Controlled done, read_controlled(payload));
  const Nanoseconds at = clock_.to_ns(done.ticks);
  switch (static_cast<ControlOperation>(done.operation < 256 ? done.operation : 0)) {
    case ControlOperation::pause:
      paused_ = true;
      return meter_.forget_stacks(at);
    case ControlOperation::resume:
      paused_ = false;
      return {};
    case ControlOperation::demote:
    case ControlOperation::promote:
      for (const std::uint64_t id : done.ids)
        if (id < kMaxMethods)
          methods_.set_demoted(static_cast<MethodId>(id),
                               done.operation == static_cast<std::uint64_t>(ControlOperation::demote));
      return {};
    default:
      return {};
  }
}

Result<void> Session::take(const Frame& frame) {
  const auto type = static_cast<MessageType>(frame.type);
  if (!hello_ && type == MessageType::auth) {
    PROFD_TRY(token_, read_auth(frame.payload));
    return {};
  }
  if (type == MessageType::hello) return take_hello(frame.payload);
  if (!hello_) return fail(ErrorCode::malformed, "a live stream begins with `hello`");
  switch (type) {
    case MessageType::events:
      return take_events(frame.payload);
    case MessageType::dict: {
      PROFD_TRY(const auto entries, read_dict(frame.payload));
      methods_.add(entries);
      return {};
    }
    case MessageType::module: {
      PROFD_TRY(const ModuleInfo module, read_module(frame.payload));
      methods_.add(module);
      return {};
    }
    case MessageType::thread: {
      PROFD_TRY(const ThreadInfo thread, read_thread(frame.payload));
      meter_.name_thread(thread.thread, thread.os_id, thread.name, thread.flags);
      return {};
    }
    case MessageType::thread_end: {
      PROFD_TRY(const ThreadEnd end, read_thread_end(frame.payload));
      return meter_.end_thread(end.thread, clock_.to_ns(end.ticks));
    }
    case MessageType::tick: {
      PROFD_TRY(const Tick tick, read_tick(frame.payload));
      said_sent_ = tick.sent;
      said_lost_ = tick.lost;
      last_ticks_ = std::max(last_ticks_, tick.ticks);
      meter_.tick(clock_.to_ns(tick.ticks));
      return {};
    }
    case MessageType::gap: {
      PROFD_TRY(const Gap gap, read_gap(frame.payload));
      return meter_.gap(gap.thread, clock_.to_ns(gap.from), clock_.to_ns(gap.to), gap.count);
    }
    case MessageType::stack: {
      PROFD_TRY(const OpenStack stack, read_stack(frame.payload));
      return meter_.stack(stack.thread, clock_.to_ns(stack.ticks), stack.ids);
    }
    case MessageType::state: {
      PROFD_TRY(const State state, read_state(frame.payload));
      return meter_.state(state.thread, clock_.to_ns(state.ticks),
                          state.state == static_cast<std::uint64_t>(ThreadState::waits), state.cpu_ns);
    }
    case MessageType::sampling: {
      PROFD_TRY(Sampling sampling, read_sampling(frame.payload));
      sampling.source = cut_bytes(repair_utf8(sampling.source.substr(0, kMarkBytes)), kMarkBytes);
      sampling_ = std::move(sampling);
      return {};
    }
    case MessageType::sampled: {
      PROFD_TRY(const Sampled sampled, read_sampled(frame.payload));
      if (!sampling_) return fail(ErrorCode::malformed, "samples in a live stream that has no `sampling`");
      return meter_.sampled(sampled.thread,
                            {clock_.to_ns(sampled.from), clock_.to_ns(sampled.to), sampled.ns, sampled.count},
                            sampled.ids);
    }
    case MessageType::controlled:
      return take_controlled(frame.payload);
    case MessageType::clock: {
      PROFD_TRY(const Clock clock, read_clock(frame.payload));
      if (clock.ticks_per_second == 0 || clock.ticks_per_second > StreamClock::kFastest)
        return fail(ErrorCode::malformed,
                    fmt::format("a clock of {} ticks a second in a live stream", clock.ticks_per_second));
      clock_.pair(clock.ticks, clock.ticks_per_second);
      ticks_per_second_ = clock.ticks_per_second;
      return {};
    }
    case MessageType::bye: {
      PROFD_TRY(const Bye bye, read_bye(frame.payload));
      said_sent_ = bye.sent;
      said_lost_ = bye.lost;
      reason_ = cut_bytes(repair_utf8(bye.reason.substr(0, kMarkBytes)), kMarkBytes);
      ended_at_ = clock_.to_ns(bye.ticks);
      bye_ = true;
      return {};
    }
    default:
      return {};  // of a newer version
  }
}

}  // namespace profd::live
