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

// A message whose fields `read` goes through in their order.
template <class Message, class Read>
Result<Message> message_of(Bytes payload, std::string_view name, Read read) {
  Message message;
  Fields fields(payload, name);
  read(fields, message);
  PROFD_CHECK(fields.status());
  return message;
}

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
  return message_of<Hello>(payload, "hello", [](Fields& fields, Hello& to) {
    fields.magic().number(to.min_version).number(to.max_version).number(to.pid);
    fields.text(to.language).text(to.program).text(to.agent);
    fields.number(to.ticks_per_second).number(to.ticks).number(to.unix_ns).number(to.abilities);
    if (to.min_version > to.max_version) fields.stop("its versions are in the wrong order");
  });
}

Result<std::vector<MethodEntry>> read_dict(Bytes payload) {
  return message_of<std::vector<MethodEntry>>(
      payload, "dict", [](Fields& fields, std::vector<MethodEntry>& entries) {
        while (fields.ok() && !fields.at_end()) {
          MethodEntry entry;
          fields.number(entry.id).text(entry.package).text(entry.class_name).text(entry.method);
          fields.text(entry.signature).text(entry.file);
          fields.number(entry.line).number(entry.module).number(entry.address);
          if (fields.ok()) entries.push_back(entry);
        }
      });
}

Result<ThreadInfo> read_thread(Bytes payload) {
  return message_of<ThreadInfo>(payload, "thread", [](Fields& fields, ThreadInfo& to) {
    fields.number(to.thread).number(to.os_id).text(to.name).number(to.flags);
  });
}

Result<ThreadEnd> read_thread_end(Bytes payload) {
  return message_of<ThreadEnd>(
      payload, "threadEnd", [](Fields& fields, ThreadEnd& to) { fields.number(to.thread).number(to.ticks); });
}

Result<Tick> read_tick(Bytes payload) {
  return message_of<Tick>(payload, "tick", [](Fields& fields, Tick& to) {
    fields.number(to.ticks).number(to.sent).number(to.lost);
  });
}

Result<Gap> read_gap(Bytes payload) {
  return message_of<Gap>(payload, "gap", [](Fields& fields, Gap& to) {
    fields.number(to.thread).number(to.from).number(to.to).number(to.count);
  });
}

Result<OpenStack> read_stack(Bytes payload) {
  return message_of<OpenStack>(payload, "stack", [](Fields& fields, OpenStack& to) {
    fields.number(to.thread).number(to.ticks).numbers(to.ids);
  });
}

Result<State> read_state(Bytes payload) {
  return message_of<State>(payload, "state", [](Fields& fields, State& to) {
    fields.number(to.thread).number(to.ticks).number(to.state).number(to.cpu_ns);
  });
}

Result<Controlled> read_controlled(Bytes payload) {
  return message_of<Controlled>(payload, "controlled", [](Fields& fields, Controlled& to) {
    fields.number(to.operation).number(to.ticks).numbers(to.ids);
  });
}

Result<Bye> read_bye(Bytes payload) {
  return message_of<Bye>(payload, "bye", [](Fields& fields, Bye& to) {
    fields.number(to.ticks).number(to.sent).number(to.lost).text(to.reason);
  });
}

Result<Clock> read_clock(Bytes payload) {
  return message_of<Clock>(payload, "clock", [](Fields& fields, Clock& to) {
    fields.number(to.ticks).number(to.unix_ns).number(to.ticks_per_second);
  });
}

Result<ModuleInfo> read_module(Bytes payload) {
  return message_of<ModuleInfo>(payload, "module", [](Fields& fields, ModuleInfo& to) {
    fields.number(to.module).text(to.path).text(to.build_id).number(to.base);
  });
}

Result<std::string_view> read_auth(Bytes payload) {
  return message_of<std::string_view>(payload, "auth",
                                      [](Fields& fields, std::string_view& token) { fields.text(token); });
}

Result<Sampling> read_sampling(Bytes payload) {
  return message_of<Sampling>(payload, "sampling", [](Fields& fields, Sampling& to) {
    fields.text(to.source).number(to.period_ns).number(to.flags);
  });
}

Result<Sampled> read_sampled(Bytes payload) {
  return message_of<Sampled>(payload, "sampled", [](Fields& fields, Sampled& to) {
    fields.number(to.thread).number(to.from).number(to.to);
    fields.number(to.ns).number(to.count).numbers(to.ids);
  });
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
