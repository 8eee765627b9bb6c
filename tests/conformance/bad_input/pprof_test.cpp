#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/bad_input/protobuf_bytes.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

// `n_samples` of `n_locations` times location 1, which has `n_lines`.
std::string profile(std::size_t n_samples, std::size_t n_locations, std::size_t n_lines) {
  const std::string sample = field(2, field(1, std::string(n_locations, '\x01')) + field(2, "\x01"));
  return field(1, number_field(1, 1) + number_field(2, 2)) + repeated(n_samples, sample) +
         field(4, number_field(1, 1) + repeated(n_lines, field(4, number_field(1, 1)))) +
         field(5, number_field(1, 1) + number_field(2, 3)) + field(6, "") + field(6, "samples") +
         field(6, "count") + field(6, "main");
}

}  // namespace

TEST_CASE("pprof: locations that are stacks themselves are refused when they would fill all memory") {
  check_bad_inputs(
      "pprof", {
                   {"a stack of a million frames", profile(1, 1000, 1100), "error limit: stack_depth"},
                   {"many stacks of many frames", profile(3000, 9, 1000), "error limit: frames for a byte"},
               });
}
