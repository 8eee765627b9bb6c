// Samples in windows of time.
#include "core/compare/sample_windows.h"

#include <vector>

#include "tests/support/catch.h"

using namespace profd;

namespace {

SampleTable samples_at(std::vector<std::int64_t> times) {
  SampleTable samples;
  samples.context = Column<std::uint32_t>(std::vector<std::uint32_t>(times.size(), 0));
  samples.time = Column<std::int64_t>(std::move(times));
  return samples;
}

}  // namespace

TEST_CASE("windows divide the time from the first sample to the last, which is in the last window") {
  const auto windows = time_windows(samples_at({4000, 0, 1999}));
  REQUIRE(windows);
  CHECK(windows->of(0) == 0);
  CHECK(windows->of(99) == 0);
  CHECK(windows->of(100) == 1);
  CHECK(windows->of(1999) == 19);
  CHECK(windows->of(4000) == kWindows - 1);
}

TEST_CASE("a side of which some sample has no time, or all have one, has no windows") {
  CHECK_FALSE(time_windows(samples_at({})));
  CHECK_FALSE(time_windows(samples_at({7, 7, 7})));
  CHECK_FALSE(time_windows(samples_at({0, kNoTime, 4000})));
  CHECK(time_windows(samples_at(
      {std::numeric_limits<std::int64_t>::min() + 1, 0, std::numeric_limits<std::int64_t>::max()})));
}

TEST_CASE("an input without samples is visited nowhere") {
  ComposedInput input;
  StopToken stop;
  const auto counted =
      for_each_in_windows(input, 0, 1, stop, [](const WindowedSample&) { FAIL("there is none"); });
  CHECK(counted.value() == false);
}
