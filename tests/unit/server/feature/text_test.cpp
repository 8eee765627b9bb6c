#include "server/feature/text.h"

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/support/catch.h"

using namespace profd;

namespace {
struct ValueRow {
  Value value;
  const char* unit;
  const char* text;
};
Value i(std::int64_t v) {
  return v;
}
}  // namespace

TEST_CASE("values read with three significant digits in their unit", "[text]") {
  const ValueRow rows[] = {
      {i(0), "nanoseconds", "0 s"},
      {i(1), "nanoseconds", "1 ns"},
      {i(999), "nanoseconds", "999 ns"},
      {i(1000), "nanoseconds", "1.00 µs"},
      {i(12'340), "nanoseconds", "12.3 µs"},
      {i(999'499), "nanoseconds", "999 µs"},
      {i(999'500), "nanoseconds", "1.00 ms"},
      {i(310'000'000), "nanoseconds", "310 ms"},
      {i(1'236'000'000), "nanoseconds", "1.24 s"},
      {i(59'940'000'000), "nanoseconds", "59.9 s"},
      {i(90'000'000'000), "nanoseconds", "1.50 min"},
      {i(7'200'000'000'000), "nanoseconds", "2.00 h"},
      {i(-1'236'000'000), "nanoseconds", "-1.24 s"},
      {Value{0.25}, "nanoseconds", "0.25 ns"},
      {i(1500), "milliseconds", "1.50 s"},
      {Value{1.5}, "seconds", "1.50 s"},
      {i(0), "bytes", "0 B"},
      {i(1023), "bytes", "1,023 B"},
      {i(1024), "bytes", "1.00 KiB"},
      {i(1536), "bytes", "1.50 KiB"},
      {i(1023 * 1024), "bytes", "0.999 MiB"},
      {i(47'815'066), "bytes", "45.6 MiB"},
      {i(116'044'559'690), "bytes", "108 GiB"},
      {i(3), "kilobytes", "3.00 KiB"},
      {i(1'234), "count", "1,234"},
      {i(9'999), "count", "9,999"},
      {i(10'000), "count", "10.0 k"},
      {i(12'345), "count", "12.3 k"},
      {i(4'560'000), "count", "4.56 M"},
      {i(999'950), "count", "1.00 M"},
      {i(4'560'000), "cycles", "4.56 M cycles"},
      {Value{0.5}, "count", "0.5"},
      {Value{std::nan("")}, "count", "?"},
      {i(std::numeric_limits<std::int64_t>::min()), "count", "-9,223,372 T"},
  };
  for (const ValueRow& row : rows) CHECK(format_value(row.value, row.unit) == row.text);
  CHECK(format_value(std::nullopt, "bytes") == "?");
  CHECK(format_exact(41'202) == "41,202");
  CHECK(format_exact(7) == "7");
}

TEST_CASE("shares have one decimal and are 100 % only when exact", "[text]") {
  CHECK(format_share(i(123), i(1000)) == "12.3 %");
  CHECK(format_share(i(1), i(1001)) == "<0.1 %");
  CHECK(format_share(i(1), i(1000)) == "0.1 %");
  CHECK(format_share(i(0), i(1000)) == "0 %");
  CHECK(format_share(i(1000), i(1000)) == "100 %");
  CHECK(format_share(i(99'999), i(100'000)) == "99.9 %");
  CHECK(format_share(i(100'001), i(100'000)) == "100.1 %");
  CHECK(format_share(i(9'007'199'254'740'992), i(9'007'199'254'740'993)) == "99.9 %");
  CHECK(format_share(i(5), i(0)) == "n/a");
  CHECK(format_share(i(-250), i(1000)) == "-25.0 %");
  CHECK(format_share(i(-1), i(100'000)) == "-<0.1 %");
  CHECK(format_share(Value{0.5}, Value{1.0}) == "50.0 %");
}

TEST_CASE("a share is rounded as its exact decimals say, halves and their neighbours too", "[text]") {
  std::mt19937_64 random(1);
  std::vector<std::pair<std::int64_t, std::int64_t>> shares;
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t whole = 1000 + static_cast<std::int64_t>(random() % 1000000);
    shares.emplace_back(1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(whole)), whole);
  }
  for (std::int64_t i = 2; i < 2000; ++i) shares.emplace_back(i, 2000);       // 0.05 % apart: halves
  for (std::int64_t i = 2; i < 2000; ++i) shares.emplace_back(i * 8, 16001);  // beside them
  for (const auto& [part, whole] : shares) {
    const double percent = static_cast<double>(part) / static_cast<double>(whole) * 100;
    const std::string exact = fmt::format("{:.1f}", percent);
    if (percent < 0.1 || exact == "100.0") continue;
    REQUIRE(format_share(Value{part}, Value{whole}) == exact + " %");
  }
}

TEST_CASE("ratios have two decimals and know division by zero", "[text]") {
  CHECK(format_ratio(4.0 / 3) == "1.33");
  CHECK(format_ratio(-4.0 / 3) == "-1.33");
  CHECK(format_ratio(0) == "0.00");
  CHECK(format_ratio(0.0123456) == "0.0123");
  CHECK(format_ratio(-0.0123456) == "-0.0123");
  CHECK(format_ratio(1234.5) == "1234.50");
  CHECK(format_ratio(12345.6) == "12.3 k");
  CHECK(format_ratio(std::nan("")) == "?");
}

TEST_CASE("deltas carry a sign and what kind of change it was", "[text]") {
  CHECK(format_delta(i(3'647'000'000), i(4'887'000'000), "nanoseconds") == "+1.24 s (+34 %)");
  CHECK(format_delta(i(1000), i(900), "count") == "-100 (-10 %)");
  CHECK(format_delta(i(1000), i(1005), "count") == "+5 (+0.5 %)");
  CHECK(format_delta(i(0), i(5), "count") == "+5");
  CHECK(format_delta(i(5), i(5), "count") == "±0");
  CHECK(format_delta(i(100), i(101), "count", true) == "~ +1 (+1.0 %)");
  CHECK(change_mark(change_of(false, i(0), true, i(5))) == "[A]");
  CHECK(change_mark(change_of(true, i(5), false, i(0))) == "[D]");
  CHECK(change_mark(change_of(true, i(5), true, i(6))) == "[+]");
  CHECK(change_mark(change_of(true, i(6), true, i(5))) == "[-]");
  CHECK(change_mark(change_of(true, i(6), true, i(6))) == "[=]");
}

TEST_CASE("times of day are UTC, before the epoch too", "[text]") {
  CHECK(format_time_utc(0) == "1970-01-01 00:00:00 UTC");
  CHECK(format_time_utc(1'763'666'894'123'456'789) == "2025-11-20 19:28:14 UTC");
  CHECK(format_time_utc(-1) == "1969-12-31 23:59:59 UTC");
}
