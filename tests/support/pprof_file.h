// Writes pprof files field by field, wrong ones included: nothing is checked.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace profd::test {

class Message {
 public:
  Message& varint(std::uint32_t field, std::uint64_t value) {
    put(std::uint64_t{field} << 3);
    put(value);
    return *this;
  }
  Message& bytes(std::uint32_t field, std::string_view value) {
    put((std::uint64_t{field} << 3) | 2);
    put(value.size());
    out_ += value;
    return *this;
  }
  Message& message(std::uint32_t field, const Message& inner) { return bytes(field, inner.out_); }
  Message& packed(std::uint32_t field, std::initializer_list<std::uint64_t> values) {
    Message inner;
    for (std::uint64_t v : values) inner.put(v);
    return bytes(field, inner.out_);
  }
  Message& raw(std::string_view bytes) {
    out_ += bytes;
    return *this;
  }
  const std::string& str() const { return out_; }

 private:
  void put(std::uint64_t value) {
    while (value >= 0x80) {
      out_ += static_cast<char>((value & 0x7F) | 0x80);
      value >>= 7;
    }
    out_ += static_cast<char>(value);
  }
  std::string out_;
};

inline constexpr std::uint64_t negative(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

// The parts of a small valid profile: samples/count and cpu/nanoseconds, functions main -> work -> leaf.
// strings: 0 "" 1 samples 2 count 3 cpu 4 nanoseconds 5 main 6 work 7 leaf 8 a.go 9 /bin/app 10 key 11 value
// 12 bytes
struct PprofParts {
  std::vector<Message> sample_types{Message().varint(1, 1).varint(2, 2), Message().varint(1, 3).varint(2, 4)};
  std::vector<Message> samples{Message().packed(1, {3, 2, 1}).packed(2, {2, 20}),
                               Message().packed(1, {2, 1}).packed(2, {1, 10})};
  std::vector<Message> mappings{Message().varint(1, 1).varint(2, 0x1000).varint(3, 0x9000).varint(5, 9)};
  std::vector<Message> locations{location(1, 0x1001, {{1, 10}}), location(2, 0x1002, {{2, 20}}),
                                 location(3, 0x1003, {{3, 30}})};
  std::vector<Message> functions{function(1, 5), function(2, 6), function(3, 7)};
  std::vector<std::string> strings{"",     "samples", "count",    "cpu", "nanoseconds", "main", "work",
                                   "leaf", "a.go",    "/bin/app", "key", "value",       "bytes"};
  Message tail;

  struct LineOf {
    std::uint64_t function, line;
  };
  static Message location(std::uint64_t id, std::uint64_t address, std::initializer_list<LineOf> lines) {
    Message m;
    m.varint(1, id).varint(2, 1).varint(3, address);
    for (const LineOf& l : lines) m.message(4, Message().varint(1, l.function).varint(2, l.line));
    return m;
  }
  static Message function(std::uint64_t id, std::uint64_t name) {
    return Message().varint(1, id).varint(2, name).varint(3, name).varint(4, 8);
  }

  std::string file() const {
    Message m;
    for (const auto& part : sample_types) m.message(1, part);
    for (const auto& part : samples) m.message(2, part);
    for (const auto& part : mappings) m.message(3, part);
    for (const auto& part : locations) m.message(4, part);
    for (const auto& part : functions) m.message(5, part);
    for (const auto& text : strings) m.bytes(6, text);
    return m.raw(tail.str()).str();
  }
};

}  // namespace profd::test
