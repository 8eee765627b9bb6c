// Windows of time, which cut durations.
#include <array>
#include <limits>

#include "core/view/durations.h"
#include "core/view/filtered_profile.h"
#include "core/view/selection.h"
#include "core/view/time_set.h"
#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

// A call of 10 ms, then one of 5 ms after a pause, as a tracer has them.
constexpr std::string_view kCalls = R"(
  # metrics: wall/nanoseconds calls/count
  main;parse 10000000 1 {thread=t1 time=0}
  main;draw 5000000 1 {thread=t1 time=20000000}
  main;wait 30000000 1 {thread=t2 time=0}
)";

Value total(std::string_view profile, const std::string& spec) {
  const auto selection = select(profile_from_text(profile), *parse_view_spec(spec), {});
  REQUIRE(selection);
  return (*selection)->sums->total;
}

Filter window(FilterOp op, std::int64_t from, std::int64_t to, std::optional<std::int64_t> every = {}) {
  Filter filter;
  filter.op = op;
  filter.by = FilterBy::time;
  filter.from_ns = from;
  filter.to_ns = to;
  filter.every_ns = every;
  return filter;
}

}  // namespace

TEST_CASE("a window takes of a call what lies in it, and of a count what begins in it") {
  CHECK(total(kCalls, "flat | thread t1 | time 5ms..6ms") == Value{1'000'000L});
  CHECK(total(kCalls, "flat | thread t1 | time 5ms..6ms | metric calls") == Value{0L});
  CHECK(total(kCalls, "flat | thread t1 | time 0s..1ns | metric calls") == Value{1L});
  CHECK(total(kCalls, "flat | thread t1 | time 9ms..21ms") == Value{2'000'000L});
  CHECK(total(kCalls, "flat | thread t1 | drop time 5ms..6ms") == Value{14'000'000L});
  CHECK(total(kCalls, "flat | time 10ms..20ms") == Value{10'000'000L});
  CHECK(total(kCalls, "flat | time 5ms.. | time ..6ms") == Value{2'000'000L});
}

TEST_CASE("a window that comes again takes what lies in each of them") {
  CHECK(total(kCalls, "flat | thread t1 | time 1ms..2ms every 4ms") == Value{3'000'000L + 1'000'000L});
  CHECK(total(kCalls, "flat | thread t1 | drop time 1ms..2ms every 4ms") == Value{11'000'000L});
  CHECK(total(kCalls, "flat | thread t1 | time 1ms..2ms every 4ms | time ..3ms") == Value{1'000'000L});
  CHECK(total(kCalls, "flat | thread t1 | time 8ms..9ms every 1ms") == Value{2'000'000L + 5'000'000L});
}

TEST_CASE("weights of a sampling timer stay whole, with their samples") {
  // The second sample comes a little early: its weight is no time that passed from there on.
  constexpr std::string_view kSampled = R"(
    # metrics: cpu/nanoseconds
    main;f 10000000 {thread=t1 time=10000000}
    main;g 10000000 {thread=t1 time=19900000}
    main;f 10000000 {thread=t1 time=30000000}
  )";
  CHECK(total(kSampled, "flat | time 5ms..15ms") == Value{10'000'000L});
  CHECK(total(kSampled, "flat | time 15ms..19ms") == Value{0L});
}

TEST_CASE("values are durations where none reaches into the next sample of its thread") {
  const auto scales = [](std::string_view text) {
    return duration_metrics(*profile_from_text(text), {}).value();
  };
  CHECK(scales(kCalls) == std::vector<std::int64_t>{1, 0});
  CHECK(scales("# metrics: t/us\na 3 {time=0}\na 2 {time=3000}\n") == std::vector<std::int64_t>{1000});
  CHECK(scales("# metrics: t/us\na 3 {time=0}\na 2 {time=2999}\n") == std::vector<std::int64_t>{0});
  // Of another thread, without a value, without a time.
  CHECK(scales("# metrics: t/ns\na 9 {thread=x time=0}\nb 9 {thread=y time=1}\n") ==
        std::vector<std::int64_t>{1});
  CHECK(scales("# metrics: t/ns\na 9 {time=0}\nb 0 {time=5}\nb 1 {time=9}\n") ==
        std::vector<std::int64_t>{1});
  CHECK(scales("# metrics: t/ns\na 0 {time=0}\n") == std::vector<std::int64_t>{0});
  CHECK(scales("# metrics: t/ns\na 7\n") == std::vector<std::int64_t>{0});
}

TEST_CASE("a window cuts durations in fractions of other units") {
  constexpr std::string_view kSeconds =
      "# metrics: t/seconds\n# fractional\na 2 {time=0}\nb 1 {time=2000000000}\n";
  CHECK(total(kSeconds, "flat | time 500ms..2500ms") == Value{2.0});
  constexpr std::string_view kMicros = "# metrics: t/us\na 3 {time=100}\n";
  CHECK(total(kMicros, "flat | time ..1600ns") == Value{1L});
  CHECK(total(kMicros, "flat | time 1600ns..") == Value{2L});
}

TEST_CASE("a window matches a call that reaches into it, and says so when none does") {
  const ProfilePtr profile = profile_from_text(kCalls);
  const auto warnings = [&](std::string_view spec) {
    return select(profile, *parse_view_spec(spec), {}).value()->warnings();
  };
  CHECK(warnings("flat | time 5ms..6ms").empty());
  CHECK(warnings("flat | time 40ms..50ms").size() == 1);
  CHECK(warnings("flat | drop time 40ms..50ms").size() == 1);
}

TEST_CASE("a profile written through a window has the calls cut to it") {
  const ProfilePtr profile = profile_from_text(kCalls);
  const ViewSpec spec = *parse_view_spec("top-down | thread t1 | time 9ms..21ms");
  const auto out = filtered_profile(**select(profile, spec, {}), spec, {});
  REQUIRE(out);
  const SampleTable& samples = *(*out)->samples();
  REQUIRE(samples.size() == 2);
  CHECK(samples.time[0] == 9'000'000);
  CHECK(std::get<Column<std::int64_t>>(samples.values[0])[0] == 1'000'000);
  CHECK(std::get<Column<std::int64_t>>(samples.values[1])[0] == 0);
  CHECK(samples.time[1] == 20'000'000);
  CHECK(std::get<Column<std::int64_t>>(samples.values[0])[1] == 1'000'000);
}

TEST_CASE("windows that are none are refused with a reason") {
  const auto reason = [](std::string_view spec) {
    return select(profile_from_text(kCalls), *parse_view_spec(spec), {}).error().message;
  };
  CHECK(reason("flat | time 2ms..1ms") == "the time window ends before it begins");
  CHECK(reason("flat | time ..1ms every 2ms").find("has a begin and an end") != std::string::npos);
  CHECK(reason("flat | time 0s..2ms every 1ms") == "a window comes again no sooner than it is long");
  CHECK(reason("flat | time 0s..0s every 0s") == "a window comes again no sooner than it is long");
  CHECK(reason("flat | time 0s..1s every 2s | time 0s..1s every 3s").find("at most one") !=
        std::string::npos);
}

TEST_CASE("a set of times holds to the ends of what can be counted") {
  const std::array all{window(FilterOp::drop, 0, 1)};
  const TimeSet set = *TimeSet::of(all);
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  CHECK(set.measure(0, kLast) == kLast - 1);
  CHECK(set.contains(kFirst));
  CHECK(set.first_in(0, kLast) == 1);
  const std::array again{window(FilterOp::keep, 0, 3, 10)};
  const TimeSet often = *TimeSet::of(again);
  CHECK(often.measure(0, kLast) == kLast / 10 * 3 + 3);
  CHECK(often.first_in(5, 12) == 10);
  CHECK(often.first_in(5, 10) == std::nullopt);
  CHECK(often.first_in(kFirst, 1) == 0);
}
