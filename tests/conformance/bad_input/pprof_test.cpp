#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string varint(std::size_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
std::string field(int number, const std::string& body) {
  return static_cast<char>(number << 3 | 2) + varint(body.size()) + body;
}
std::string number(int number, std::size_t value) {
  return static_cast<char>(number << 3) + varint(value);
}
std::string repeated(std::size_t n, const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += text;
  return out;
}

// `n_samples` of `n_locations` times location 1, which has `n_lines`.
std::string profile(std::size_t n_samples, std::size_t n_locations, std::size_t n_lines) {
  const std::string sample = field(2, field(1, std::string(n_locations, '\x01')) + field(2, "\x01"));
  return field(1, number(1, 1) + number(2, 2)) + repeated(n_samples, sample) +
         field(4, number(1, 1) + repeated(n_lines, field(4, number(1, 1)))) +
         field(5, number(1, 1) + number(2, 3)) + field(6, "") + field(6, "samples") + field(6, "count") +
         field(6, "main");
}

}  // namespace

TEST_CASE("pprof: locations that are stacks themselves are refused when they would fill all memory") {
  check_bad_inputs(
      "pprof", {
                   {"a stack of a million frames", profile(1, 1000, 1100), "error limit: stack_depth"},
                   {"many stacks of many frames", profile(3000, 9, 1000), "error limit: frames for a byte"},
               });
}
