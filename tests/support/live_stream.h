// Writes what an agent sends, message by message, as protocol/live.json declares it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/live/varint.h"
#include "core/live/wire.h"

namespace profd::test {

inline live::Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// Fields of a payload.
class Payload {
 public:
  Payload& n(std::uint64_t value) {
    live::append_varint(bytes, value);
    return *this;
  }
  Payload& s(std::string_view text) {
    n(text.size());
    bytes += text;
    return *this;
  }
  std::string bytes;
};

// Records of one thread.
class RecordsOf {
 public:
  RecordsOf(std::uint64_t thread, std::uint64_t ticks) : at_(ticks) { payload_.n(thread).n(ticks); }
  RecordsOf& enter(std::uint64_t at, std::uint64_t id) { return record(at, 0, {id}); }
  RecordsOf& exit(std::uint64_t at) { return record(at, 1, {}); }
  RecordsOf& exit_to(std::uint64_t at, std::uint64_t id) { return record(at, 2, {id}); }
  RecordsOf& other(std::uint64_t at, std::uint64_t operation, std::string_view bytes) {
    record(at, 3, {operation});
    payload_.s(bytes);
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return payload_.bytes; }

 private:
  // A time before that of the record before becomes that: deltas have no sign.
  RecordsOf& record(std::uint64_t at, unsigned kind, std::initializer_list<std::uint64_t> more) {
    if (at < at_) at = at_;
    payload_.n((at - at_) * 4 + kind);
    for (const std::uint64_t value : more) payload_.n(value);
    at_ = at;
    return *this;
  }
  Payload payload_;
  std::uint64_t at_;
};

class LiveStream {
 public:
  LiveStream& message(live::MessageType type, std::string_view payload) {
    bytes += static_cast<char>(type);
    live::append_varint(bytes, payload.size());
    bytes += payload;
    return *this;
  }
  LiveStream& hello(std::uint64_t ticks = 0, std::uint64_t ticks_per_second = 1'000'000'000,
                    std::string_view language = "c") {
    Payload p;
    p.bytes = "PLIVE";
    p.n(1).n(1).n(4711).s(language).s("demo").s("test 1").n(ticks_per_second).n(ticks);
    p.n(1'700'000'000'000'000'000).n(15);
    return message(live::MessageType::hello, p.bytes);
  }
  LiveStream& method(std::uint64_t id, std::string_view package, std::string_view type, std::string_view name,
                     std::string_view signature = "", std::string_view file = "", std::uint64_t line = 0) {
    Payload p;
    p.n(id).s(package).s(type).s(name).s(signature).s(file).n(line).n(0).n(0);
    return message(live::MessageType::dict, p.bytes);
  }
  LiveStream& thread(std::uint64_t number, std::string_view name, std::uint64_t os_id = 0) {
    return message(live::MessageType::thread, Payload().n(number).n(os_id).s(name).n(0).bytes);
  }
  LiveStream& thread_end(std::uint64_t number, std::uint64_t at) {
    return message(live::MessageType::thread_end, Payload().n(number).n(at).bytes);
  }
  LiveStream& events(const RecordsOf& records) { return message(live::MessageType::events, records.bytes()); }
  LiveStream& tick(std::uint64_t at, std::uint64_t sent = 0, std::uint64_t lost = 0) {
    return message(live::MessageType::tick, Payload().n(at).n(sent).n(lost).bytes);
  }
  LiveStream& gap(std::uint64_t thread, std::uint64_t from, std::uint64_t to, std::uint64_t count) {
    return message(live::MessageType::gap, Payload().n(thread).n(from).n(to).n(count).bytes);
  }
  LiveStream& stack(std::uint64_t thread, std::uint64_t at, std::span<const std::uint64_t> ids) {
    Payload p;
    p.n(thread).n(at);
    for (const std::uint64_t id : ids) p.n(id);
    return message(live::MessageType::stack, p.bytes);
  }
  LiveStream& state(std::uint64_t thread, std::uint64_t at, std::uint64_t state, std::uint64_t cpu_ns = 0) {
    return message(live::MessageType::state, Payload().n(thread).n(at).n(state).n(cpu_ns).bytes);
  }
  LiveStream& controlled(std::uint64_t operation, std::uint64_t at, std::span<const std::uint64_t> ids = {}) {
    Payload p;
    p.n(operation).n(at);
    for (const std::uint64_t id : ids) p.n(id);
    return message(live::MessageType::controlled, p.bytes);
  }
  LiveStream& sampling(std::string_view source = "test", std::uint64_t period = 0, std::uint64_t flags = 0) {
    return message(live::MessageType::sampling, Payload().s(source).n(period).n(flags).bytes);
  }
  LiveStream& sampled(std::uint64_t thread, std::uint64_t from, std::uint64_t to, std::uint64_t ns,
                      std::uint64_t count, std::initializer_list<std::uint64_t> ids) {
    Payload p;
    p.n(thread).n(from).n(to).n(ns).n(count);
    for (const std::uint64_t id : ids) p.n(id);
    return message(live::MessageType::sampled, p.bytes);
  }
  LiveStream& bye(std::uint64_t at, std::uint64_t sent = 0, std::uint64_t lost = 0) {
    return message(live::MessageType::bye, Payload().n(at).n(sent).n(lost).s("exit").bytes);
  }
  std::string bytes;
};

}  // namespace profd::test
