// The live stream as bytes: frames, and what the payload of each message says. What may come is declared in
// protocol/live.json. Nothing here remembers what came before; every count and length is checked against the
// bytes that are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/live/stream_constants.h"
#include "core/support/result.h"

namespace profd::live {

using Bytes = std::span<const std::byte>;
inline Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// One message; `payload` lies in what was fed.
struct Frame {
  std::uint8_t type = 0;
  Bytes payload;
  std::uint64_t offset = 0;  // of its first byte in the stream
};

// Cuts a stream into frames. What it was fed last stays valid until it is fed again.
class FrameReader {
 public:
  void feed(Bytes bytes);
  // The next whole frame; nothing: more bytes are needed. Fails with `limit` for a payload that is longer
  // than messages of its type may be, `malformed` for a length that is no number.
  Result<std::optional<Frame>> next();
  // What there is of a frame that has only begun.
  [[nodiscard]] Bytes rest() const;
  [[nodiscard]] std::uint64_t offset() const;

 private:
  std::vector<std::byte> kept_;  // a frame that has only begun, and what was fed after it
  Bytes input_;                  // kept_, or what was fed where nothing was kept
  std::size_t at_ = 0;           // in input_
  std::uint64_t base_ = 0;       // of input_ in the stream
};

struct Hello {
  std::uint64_t min_version = 0, max_version = 0, pid = 0;
  std::string language, program, agent;
  std::uint64_t ticks_per_second = 0, ticks = 0, unix_ns = 0, abilities = 0;
};
struct MethodEntry {
  std::uint64_t id = 0;
  std::string_view package, class_name, method, signature, file;
  std::uint64_t line = 0, module = 0, address = 0;
};
struct ThreadInfo {
  std::uint64_t thread = 0, os_id = 0;
  std::string_view name;
  std::uint64_t flags = 0;
};
struct ThreadEnd {
  std::uint64_t thread = 0, ticks = 0;
};
struct Tick {
  std::uint64_t ticks = 0, sent = 0, lost = 0;
};
struct Gap {
  std::uint64_t thread = 0, from = 0, to = 0, count = 0;
};
struct OpenStack {
  std::uint64_t thread = 0, ticks = 0;
  std::vector<std::uint64_t> ids;  // outermost first
};
struct State {
  std::uint64_t thread = 0, ticks = 0, state = 0, cpu_ns = 0;
};
struct Controlled {
  std::uint64_t operation = 0, ticks = 0;
  std::vector<std::uint64_t> ids;
};
struct Bye {
  std::uint64_t ticks = 0, sent = 0, lost = 0;
  std::string_view reason;
};
struct Clock {
  std::uint64_t ticks = 0, unix_ns = 0, ticks_per_second = 0;
};
struct ModuleInfo {
  std::uint64_t module = 0;
  std::string_view path, build_id;
  std::uint64_t base = 0;
};
struct Sampling {
  std::string source;
  std::uint64_t period_ns = 0;  // 0: unknown
  std::uint64_t flags = 0;      // sum of SamplingFlag
};
struct Sampled {
  std::uint64_t thread = 0, from = 0, to = 0, ns = 0, count = 0;
  std::vector<std::uint64_t> ids;  // outermost first; none: nothing was open
};

// Each fails with `malformed` or `truncated` where the payload is not what the message says.
Result<Hello> read_hello(Bytes payload);
Result<std::vector<MethodEntry>> read_dict(Bytes payload);
Result<ThreadInfo> read_thread(Bytes payload);
Result<ThreadEnd> read_thread_end(Bytes payload);
Result<Tick> read_tick(Bytes payload);
Result<Gap> read_gap(Bytes payload);
Result<OpenStack> read_stack(Bytes payload);
Result<State> read_state(Bytes payload);
Result<Controlled> read_controlled(Bytes payload);
Result<Bye> read_bye(Bytes payload);
Result<Clock> read_clock(Bytes payload);
Result<ModuleInfo> read_module(Bytes payload);
Result<std::string_view> read_auth(Bytes payload);
Result<Sampling> read_sampling(Bytes payload);
Result<Sampled> read_sampled(Bytes payload);

// What the daemon says, as whole frames.
std::string write_welcome(std::uint64_t version, std::uint64_t tick_ms, std::string_view session);
std::string write_refuse(RefuseReason reason, std::string_view message);
std::string write_control(ControlOperation operation, std::string_view pattern,
                          std::span<const std::uint32_t> ids);

// The first bytes of a stream, of a file too: `hello` with its magic.
enum class StreamStart : std::uint8_t { no, more, yes };
StreamStart begins_stream(Bytes prefix);

}  // namespace profd::live
