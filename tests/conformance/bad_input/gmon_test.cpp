#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string number(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::string histogram(std::uint64_t low, std::uint64_t high, std::uint32_t n, std::uint32_t rate,
                      const std::string& dimension, const std::string& bins) {
  std::string name = dimension;
  name.resize(15);
  return std::string(1, '\0') + number(low, 8) + number(high, 8) + number(n, 4) + number(rate, 4) + name +
         "s" + bins;
}

}  // namespace

TEST_CASE("gmon: bad input is refused or counted") {
  const std::string head = "gmon" + number(1, 4) + std::string(12, '\0');
  const std::string good = histogram(0x1000, 0x1010, 2, 100, "seconds", number(1, 2) + number(2, 2));
  check_bad_inputs(
      "gmon",
      {
          {"another file", "hello", "error malformed: version 1"},
          {"another version", "gmon" + number(2, 4) + std::string(12, '\0'), "error malformed: version 1"},
          {"a header alone", head, "error malformed: no record"},
          {"a record of an unknown kind", head + good + "\7", "error malformed: kind 7"},
          {"a histogram of nothing", head + histogram(0x1000, 0x1000, 1, 100, "seconds", "ab"),
           "error malformed: covers nothing"},
          {"a histogram without a rate", head + histogram(0x1000, 0x1010, 1, 0, "seconds", "ab"),
           "error malformed: no rate"},
          {"4,294,967,295 bins", head + histogram(0x1000, 0x1010, ~0u, 100, "seconds", "ab"),
           "error truncated: after the end"},
          {"a dimension with control characters", head + histogram(0x1000, 0x1010, 1, 100, "a\x1b[0m", "ab"),
           "error malformed: dimension"},
          {"an arc cut off", head + good + std::string("\1\2\3", 3), "error truncated: an arc"},
          {"4,294,967,295 blocks", head + good + "\2" + number(~0u, 4), "error truncated: after the end"},
          {"histograms of two dimensions", head + good + histogram(0x1000, 0x1010, 1, 100, "cycles", "ab"),
           "report other-dimension"},
          {"no symbols", head + good, "report no-symbols"},
      });
}
