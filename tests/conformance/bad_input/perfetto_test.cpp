#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7F) | 0x80);
  out += static_cast<char>(value);
}
std::string number(std::uint32_t id, std::uint64_t value) {
  std::string out;
  append_varint(out, id << 3);
  append_varint(out, value);
  return out;
}
// A length-delimited field below 128 bytes.
std::string field(std::uint32_t id, const std::string& content) {
  std::string out;
  append_varint(out, id << 3 | 2);
  append_varint(out, content.size());
  return out + content;
}
std::string packet(const std::string& content) {
  return field(1, number(10, 1) + content);
}
std::string event(std::uint64_t time, std::uint64_t type, const std::string& more = "") {
  return packet(number(8, time) + field(11, number(9, type) + more));
}

}  // namespace

TEST_CASE("perfetto: bad input is refused or counted") {
  const std::string slice = event(10, 1, field(23, "a")) + event(20, 2);
  check_bad_inputs(
      "perfetto",
      {
          {"no bytes of a packet", "\x0a", "error truncated: inside a packet"},
          {"not protobuf", "hello, world", "error malformed: no packet"},
          {"an ill-formed packet", field(1, "\x0f\x01"), "error malformed: ill-formed"},
          {"nothing that is read", packet(number(8, 1)), "error unsupported: none of the 1 packets"},
          {"cut in a packet", slice + "\x0a\x40zz", "error truncated: inside a packet"},
          {"compressed packets that are none", slice + field(1, field(50, "zzzz")),
           "error malformed: damaged"},
          {"an end without a begin", slice + event(30, 2), "report end-without-begin"},
          {"a begin without an end", slice + event(30, 1), "report open-slice"},
          {"a field that is no packet", slice + number(7, 1), "report unknown-field"},
          {"zeros between packets", slice + std::string(3, '\0') + slice, "report padding"},
          {"an event without a time", slice + packet(field(11, number(9, 1))), "report no-time"},
          {"a stack that was never defined", packet(field(66, number(2, 1) + number(4, 9))),
           "report missing-stack"},
          {"a frame that was never defined",
           packet(field(12, field(7, number(1, 9) + number(2, 5))) + field(66, number(4, 9))),
           "report missing-frame"},
          {"names from before the trace",
           slice + packet(number(8, 40) + number(13, 2) + field(11, number(9, 4))), "report state-missing"},
          {"records that the kernel lost", slice + packet(field(66, number(1, 0) + number(17, 5))),
           "report kernel-records-lost"},
          {"times at both ends of the range", event(~0ull, 1) + event(0, 2) + slice, "report open-slice"},
          {"an asynchronous event", slice + packet(number(8, 3) + field(11, field(6, number(2, 'b')))),
           "report other-event"},
      });
}
