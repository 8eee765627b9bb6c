#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/files.h"
#include "tests/conformance/open_path.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

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

// tests/e2e/gprof_agreement.py asks gprof itself.
TEST_CASE("gmon: a bin that covers two functions is shared in units of two bytes, as gprof does it") {
  const TempFolder folder;
  folder.file("demo.nm", "1000 T a\n1003 T b\n100c T c\n100d t d\n");
  const auto opened = open_path(
      folder.file("gmon.out", "gmon" + number(1, 4) + std::string(12, '\0') +
                                  histogram(0x1000, 0x1010, 4, 100, "seconds",
                                            number(4, 2) + number(4, 2) + number(0, 2) + number(6, 2))));
  REQUIRE(opened);
  const Profile& profile = *opened->profiles.front();
  // b begins at an odd address: gprof takes it to begin at 0x1002. c and d begin in one unit, which is the
  // later one's.
  CHECK(selfs(profile, "time") == std::map<std::string, double>{{"a", 20e6}, {"b", 60e6}, {"d", 60e6}});
}

TEST_CASE("gmon: histograms at the end of the address space keep all of their samples") {
  const std::string head = "gmon" + number(1, 4) + std::string(12, '\0');
  for (const std::uint64_t low : {~std::uint64_t{0} - 1, ~std::uint64_t{0} - 16, std::uint64_t{0}}) {
    OpenOptions options;
    options.format = "gmon";
    const auto opened = open_hidden(head + histogram(low, ~std::uint64_t{0}, 3, 100, "seconds",
                                                     number(1, 2) + number(2, 2) + number(3, 2)),
                                    options);
    REQUIRE(opened);
    CHECK(as_double(opened->profiles.front()->total(MetricId{0u})) == 60e6);
  }
}
