#include "core/live/wire.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "core/live/varint.h"

namespace profd::live {
namespace {

constexpr std::string_view kMagic = kStreamMagic;

// A payload, field by field. After the first field that is not there, nothing is.
class Fields {
 public:
  Fields(Bytes payload, std::string_view message)
      : at_(payload.data()), end_(at_ + payload.size()), message_(message) {}

  Fields& number(std::uint64_t& value) {
    if (ok() && !read_varint(at_, end_, value)) stop("a number does not end within the message");
    return *this;
  }
  Fields& text(std::string_view& value) {
    std::uint64_t size = 0;
    number(size);
    if (!ok()) return *this;
    if (size > kMaxStringBytes) return stop(fmt::format("a text of {} bytes", size));
    if (size > static_cast<std::uint64_t>(end_ - at_)) return stop("a text does not end within the message");
    value = {reinterpret_cast<const char*>(at_), static_cast<std::size_t>(size)};
    at_ += size;
    return *this;
  }
  Fields& text(std::string& value) {
    std::string_view view;
    text(view);
    value = view;
    return *this;
  }
  Fields& numbers(std::vector<std::uint64_t>& values) {
    // Every number has a byte at least, so that there are no more than bytes.
    while (ok() && at_ != end_) {
      std::uint64_t value = 0;
      number(value);
      if (ok()) values.push_back(value);
    }
    return *this;
  }
  Fields& magic() {
    if (static_cast<std::size_t>(end_ - at_) < kMagic.size() ||
        std::memcmp(at_, kMagic.data(), kMagic.size()) != 0)
      return stop("it does not begin with PLIVE");
    at_ += kMagic.size();
    return *this;
  }
  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] bool ok() const { return problem_.empty(); }
  [[nodiscard]] Result<void> status() const {
    if (ok()) return {};
    return fail(ErrorCode::malformed,
                fmt::format("a message `{}` of the live stream is none: {}", message_, problem_));
  }
  Fields& stop(std::string problem) {
    if (ok()) problem_ = std::move(problem);
    return *this;
  }

 private:
  const std::byte* at_;
  const std::byte* end_;
  std::string_view message_;
  std::string problem_;
};

std::string framed(MessageType type, std::string_view payload) {
  std::string frame(1, static_cast<char>(type));
  append_varint(frame, payload.size());
  frame += payload;
  return frame;
}
void append_text(std::string& out, std::string_view text) {
  text = text.substr(0, kMaxStringBytes);
  append_varint(out, text.size());
  out += text;
}

}  // namespace

void FrameReader::feed(Bytes bytes) {
  base_ += at_;
  if (at_ == input_.size()) {
    kept_.clear();
    input_ = bytes;
  } else {
    if (input_.data() == kept_.data())
      kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(at_));
    else
      kept_.assign(input_.begin() + static_cast<std::ptrdiff_t>(at_), input_.end());
    kept_.insert(kept_.end(), bytes.begin(), bytes.end());
    input_ = kept_;
  }
  at_ = 0;
}

Bytes FrameReader::rest() const {
  return input_.subspan(at_);
}

std::uint64_t FrameReader::offset() const {
  return base_ + at_;
}

Result<std::optional<Frame>> FrameReader::next() {
  const std::byte* begin = input_.data() + at_;
  const std::byte* const end = input_.data() + input_.size();
  if (begin == end) {
    // What was fed may go now.
    base_ += at_;
    at_ = 0;
    input_ = {};
    kept_.clear();
    return std::optional<Frame>();
  }
  const auto type = static_cast<std::uint8_t>(*begin);
  const std::uint64_t limit =
      type == static_cast<std::uint8_t>(MessageType::events) ? kMaxEventsBytes : kMaxFrameBytes;
  const std::byte* at = begin + 1;
  std::uint64_t size = 0;
  const bool whole = read_varint(at, std::min(end, begin + 1 + 4), size);
  if (!whole && end - begin > 4)
    return fail(ErrorCode::limit, fmt::format("a message of the live stream is longer than {} bytes", limit),
                offset());
  if (whole && size > limit)
    return fail(
        ErrorCode::limit,
        fmt::format("a message of type {} of the live stream has {} bytes, more than {}", type, size, limit),
        offset());
  if (!whole || size > static_cast<std::uint64_t>(end - at)) {
    // Kept beyond the caller's buffer.
    if (input_.data() != kept_.data()) {
      kept_.assign(begin, end);
      base_ += at_;
      at_ = 0;
      input_ = kept_;
    }
    return std::optional<Frame>();
  }
  Frame frame{type, {at, static_cast<std::size_t>(size)}, offset()};
  at_ = static_cast<std::size_t>(at + size - input_.data());
  return std::optional<Frame>(frame);
}

Result<Hello> read_hello(Bytes payload) {
  Hello hello;
  Fields fields(payload, "hello");
  fields.magic().number(hello.min_version).number(hello.max_version).number(hello.pid);
  fields.text(hello.language).text(hello.program).text(hello.agent);
  fields.number(hello.ticks_per_second).number(hello.ticks).number(hello.unix_ns).number(hello.abilities);
  if (fields.ok() && hello.min_version > hello.max_version)
    fields.stop("its versions are in the wrong order");
  PROFD_CHECK(fields.status());
  return hello;
}

Result<std::vector<MethodEntry>> read_dict(Bytes payload) {
  std::vector<MethodEntry> entries;
  Fields fields(payload, "dict");
  while (fields.ok() && !fields.at_end()) {
    MethodEntry entry;
    fields.number(entry.id).text(entry.package).text(entry.class_name).text(entry.method);
    fields.text(entry.signature)
        .text(entry.file)
        .number(entry.line)
        .number(entry.module)
        .number(entry.address);
    if (fields.ok()) entries.push_back(entry);
  }
  PROFD_CHECK(fields.status());
  return entries;
}

Result<ThreadInfo> read_thread(Bytes payload) {
  ThreadInfo info;
  Fields fields(payload, "thread");
  fields.number(info.thread).number(info.os_id).text(info.name).number(info.flags);
  PROFD_CHECK(fields.status());
  return info;
}

Result<ThreadEnd> read_thread_end(Bytes payload) {
  ThreadEnd end;
  Fields fields(payload, "threadEnd");
  fields.number(end.thread).number(end.ticks);
  PROFD_CHECK(fields.status());
  return end;
}

Result<Tick> read_tick(Bytes payload) {
  Tick tick;
  Fields fields(payload, "tick");
  fields.number(tick.ticks).number(tick.sent).number(tick.lost);
  PROFD_CHECK(fields.status());
  return tick;
}

Result<Gap> read_gap(Bytes payload) {
  Gap gap;
  Fields fields(payload, "gap");
  fields.number(gap.thread).number(gap.from).number(gap.to).number(gap.count);
  PROFD_CHECK(fields.status());
  return gap;
}

Result<OpenStack> read_stack(Bytes payload) {
  OpenStack stack;
  Fields fields(payload, "stack");
  fields.number(stack.thread).number(stack.ticks).numbers(stack.ids);
  PROFD_CHECK(fields.status());
  return stack;
}

Result<State> read_state(Bytes payload) {
  State state;
  Fields fields(payload, "state");
  fields.number(state.thread).number(state.ticks).number(state.state).number(state.cpu_ns);
  PROFD_CHECK(fields.status());
  return state;
}

Result<Controlled> read_controlled(Bytes payload) {
  Controlled controlled;
  Fields fields(payload, "controlled");
  fields.number(controlled.operation).number(controlled.ticks).numbers(controlled.ids);
  PROFD_CHECK(fields.status());
  return controlled;
}

Result<Bye> read_bye(Bytes payload) {
  Bye bye;
  Fields fields(payload, "bye");
  fields.number(bye.ticks).number(bye.sent).number(bye.lost).text(bye.reason);
  PROFD_CHECK(fields.status());
  return bye;
}

Result<Clock> read_clock(Bytes payload) {
  Clock clock;
  Fields fields(payload, "clock");
  fields.number(clock.ticks).number(clock.unix_ns).number(clock.ticks_per_second);
  PROFD_CHECK(fields.status());
  return clock;
}

Result<ModuleInfo> read_module(Bytes payload) {
  ModuleInfo module;
  Fields fields(payload, "module");
  fields.number(module.module).text(module.path).text(module.build_id).number(module.base);
  PROFD_CHECK(fields.status());
  return module;
}

Result<std::string_view> read_auth(Bytes payload) {
  std::string_view token;
  Fields fields(payload, "auth");
  fields.text(token);
  PROFD_CHECK(fields.status());
  return token;
}

Result<Sampling> read_sampling(Bytes payload) {
  Sampling sampling;
  Fields fields(payload, "sampling");
  fields.text(sampling.source).number(sampling.period_ns).number(sampling.flags);
  PROFD_CHECK(fields.status());
  return sampling;
}

Result<Sampled> read_sampled(Bytes payload) {
  Sampled sampled;
  Fields fields(payload, "sampled");
  fields.number(sampled.thread).number(sampled.from).number(sampled.to);
  fields.number(sampled.ns).number(sampled.count).numbers(sampled.ids);
  PROFD_CHECK(fields.status());
  return sampled;
}

std::string write_welcome(std::uint64_t version, std::uint64_t tick_ms, std::string_view session) {
  std::string payload;
  append_varint(payload, version);
  append_varint(payload, tick_ms);
  append_text(payload, session);
  return framed(MessageType::welcome, payload);
}

std::string write_refuse(RefuseReason reason, std::string_view message) {
  std::string payload;
  append_varint(payload, static_cast<std::uint64_t>(reason));
  append_text(payload, message);
  return framed(MessageType::refuse, payload);
}

std::string write_control(ControlOperation operation, std::string_view pattern,
                          std::span<const std::uint32_t> ids) {
  std::string payload;
  append_varint(payload, static_cast<std::uint64_t>(operation));
  append_text(payload, pattern);
  for (const std::uint32_t id : ids) append_varint(payload, id);
  return framed(MessageType::control, payload);
}

StreamStart begins_stream(Bytes prefix) {
  if (prefix.empty()) return StreamStart::more;
  if (static_cast<std::uint8_t>(prefix[0]) != static_cast<std::uint8_t>(MessageType::hello))
    return StreamStart::no;
  const std::byte* at = prefix.data() + 1;
  const std::byte* const end = prefix.data() + prefix.size();
  std::uint64_t size = 0;
  if (!read_varint(at, std::min(end, at + 3), size))
    return prefix.size() < 4 ? StreamStart::more : StreamStart::no;
  if (size < kMagic.size() || size > kMaxFrameBytes) return StreamStart::no;
  const std::size_t there = std::min(kMagic.size(), static_cast<std::size_t>(end - at));
  if (std::memcmp(at, kMagic.data(), there) != 0) return StreamStart::no;
  return there < kMagic.size() ? StreamStart::more : StreamStart::yes;
}

}  // namespace profd::live
