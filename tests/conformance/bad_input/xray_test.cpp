#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"

using namespace profd::test;

namespace {

std::string xray_number(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::string xray_head(unsigned version, unsigned type, std::uint64_t frequency = 1'000'000'000,
                      std::uint64_t buffer = 0) {
  return xray_number(version, 2) + xray_number(type, 2) + xray_number(3, 4) + xray_number(frequency, 8) +
         xray_number(buffer, 8) + xray_number(0, 8);
}

std::string xray_basic(unsigned kind, std::uint64_t function, std::uint64_t ticks, unsigned what = 0) {
  return xray_number(what, 2) + xray_number(0, 1) + xray_number(kind, 1) + xray_number(function, 4) +
         xray_number(ticks, 8) + xray_number(11, 4) + xray_number(7, 4) + xray_number(0, 8);
}

std::string xray_metadata(unsigned kind, const std::string& fields = {}) {
  std::string out = xray_number(kind << 1 | 1, 1) + fields;
  out.resize(16);
  return out;
}

std::string xray_event(std::uint64_t kind, std::uint64_t function, std::uint64_t delta) {
  return xray_number(kind << 1 | function << 4, 4) + xray_number(delta, 4);
}

std::string xray_buffer(const std::string& rest, std::uint64_t more = 0) {
  const std::string data = xray_metadata(0, xray_number(11, 4)) + rest;
  return xray_metadata(7, xray_number(data.size() + more, 8)) + data;
}

}  // namespace

TEST_CASE("xray: bad input is refused or counted") {
  const std::string basic = xray_head(3, 0), recorder = xray_head(5, 1);
  const std::string enters = xray_basic(0, 1, 1000), leaves = xray_basic(1, 1, 2000);
  const std::string cpu = xray_metadata(2, xray_number(0, 2) + xray_number(1000, 8));
  check_bad_inputs(
      "xray",
      {
          {"a header cut off", basic.substr(0, 20), "error truncated: the header"},
          {"another version", xray_head(6, 0) + enters, "error unsupported: version 6"},
          {"another type", xray_head(3, 2) + enters, "error unsupported: type 2"},
          {"a clock of 10^19 ticks a second", xray_head(3, 0, 10'000'000'000'000'000'000u) + enters,
           "error malformed: ticks"},
          {"a record of an unknown kind", basic + enters + xray_basic(0, 1, 1000, 2),
           "error malformed: kind 2"},
          {"an event of an unknown kind", basic + enters + xray_basic(4, 1, 1000), "error malformed: kind 4"},
          {"a function without a number", basic + xray_basic(0, 0, 1000), "error malformed: numbered from 1"},
          {"a function with a number that is too large", basic + xray_basic(0, 1u << 28, 1000),
           "error malformed: numbered from 1"},
          {"a record cut off", basic + enters + leaves.substr(0, 20), "error truncated: a record"},
          {"a century between two events", basic + enters + xray_basic(1, 1, ~std::uint64_t{0}),
           "error malformed: century"},
          {"no event", basic, "report no-calls"},
          {"no program", basic + enters + leaves, "report no-symbols"},
          {"no end", basic + enters, "report open-call"},
          {"no begin", basic + leaves, "report end-without-begin"},
          {"an exception", basic + enters + xray_basic(0, 2, 1100) + leaves, "report call-without-end"},
          {"a clock that runs backwards", basic + enters + xray_basic(1, 1, 500), "report time-backwards"},
          {"a buffer without extents", recorder + xray_metadata(0), "error malformed: extents"},
          {"a buffer that ends after the file", recorder + xray_buffer(cpu, 1), "error truncated: a buffer"},
          {"a buffer of 2^64 - 1 bytes", recorder + xray_metadata(7, xray_number(~std::uint64_t{0}, 8)),
           "error truncated: a buffer"},
          {"a buffer in another one",
           recorder + xray_metadata(7, xray_number(64, 8)) + xray_buffer(cpu + cpu),
           "error malformed: within another"},
          {"an event over the end of its buffer",
           recorder + xray_metadata(7, xray_number(20, 8)) + xray_metadata(0, xray_number(11, 4)) +
               xray_event(0, 1, 0),
           "error malformed: over the end"},
          {"an event before its thread", recorder + xray_metadata(7, xray_number(8, 8)) + xray_event(0, 1, 0),
           "error malformed: thread"},
          {"an end of the buffer in version 5", recorder + xray_buffer(xray_metadata(1)),
           "error malformed: kind 1 in version 5"},
          {"a record of kind 10", recorder + xray_buffer(xray_metadata(10)), "error malformed: kind 10"},
          {"an event of the program's own of -1 bytes",
           recorder + xray_buffer(xray_metadata(5, xray_number(0xFFFFFFFF, 4))), "error malformed: negative"},
          {"an event of the program's own after the end",
           recorder + xray_buffer(xray_metadata(5, xray_number(1'000'000, 4))), "error truncated: own"},
          {"an event of the program's own",
           recorder + xray_buffer(cpu + xray_event(0, 1, 0) + xray_metadata(5, xray_number(3, 4)) + "abc"),
           "report custom-events"},
          {"buffers of version 1 without a length",
           xray_head(1, 1) + xray_metadata(0, xray_number(11, 4)) + cpu + xray_event(0, 1, 0) +
               xray_metadata(1),
           "error malformed: no length"},
      });
}
