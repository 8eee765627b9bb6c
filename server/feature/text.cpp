#include "server/feature/text.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <span>
#include <system_error>

#include <fmt/format.h>

namespace profd {
namespace {

std::string grouped(std::string digits) {
  const std::size_t first = !digits.empty() && digits[0] == '-' ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

// As "{:.<precision>f}" and "{:.<precision>g}" would, in a third of the time: an answer has thousands of
// these.
std::string digits_of(double value, std::chars_format format, int precision) {
  std::array<char, 32> buffer;  // values below 1e15
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, precision);
  return error == std::errc() ? std::string(buffer.data(), end) : fmt::format("{}", value);
}

// Three digits at most after the point. Most values are rounded the quick way; those so near to a half that
// the product's last bit might decide, and the large ones, the exact way.
std::string fixed(double value, int precision) {
  constexpr std::array<std::uint32_t, 4> kScale{1, 10, 100, 1000};
  const std::uint32_t scale = kScale[static_cast<std::size_t>(precision)];
  if (value >= 0 && value < 1e6) {
    const double scaled = value * scale;
    const auto below = static_cast<std::uint64_t>(scaled);
    const double rest = scaled - static_cast<double>(below);
    if (std::fabs(rest - 0.5) > 1e-6) {
      const std::uint64_t digits = below + (rest > 0.5 ? 1 : 0);
      std::array<char, 32> buffer;
      char* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), digits / scale).ptr;
      if (precision > 0) *end++ = '.';
      for (std::uint32_t unit = scale / 10; unit > 0; unit /= 10)
        *end++ = static_cast<char>('0' + digits / unit % 10);
      return {buffer.data(), end};
    }
  }
  return digits_of(value, std::chars_format::fixed, precision);
}

// Three significant digits of a magnitude, integers above: 1.24, 12.4, 124, 1,235.
std::string three_digits(double magnitude) {
  if (magnitude < 9.995) {
    if (magnitude >= 0.9995 || magnitude == 0) return fixed(magnitude, 2);
    return digits_of(magnitude, std::chars_format::general, 3);
  }
  if (magnitude < 99.95) return fixed(magnitude, 1);
  if (magnitude >= 1e15) return fmt::format("{:.2e}", magnitude);
  return grouped(fixed(magnitude, 0));
}

struct Step {
  double size;
  std::string_view name;
};

// The largest step whose rounded quantity is at least 1. `whole`: the base unit has no fractions.
std::string scaled(double value, std::span<const Step> steps, bool whole) {
  const double magnitude = std::fabs(value);
  const char* sign = value < 0 ? "-" : "";
  std::size_t i = 0;
  const auto too_long = [&](std::size_t step) {
    if (magnitude / steps[step + 1].size >= 0.9995) return true;
    return !(whole && step == 0) && magnitude / steps[step].size >= 999.5;
  };
  while (i + 1 < steps.size() && too_long(i)) ++i;
  const double quantity = magnitude / steps[i].size;
  const bool exact = whole && i == 0 && quantity == std::floor(quantity);
  std::string text = sign;
  text += exact ? grouped(fixed(quantity, 0)) : three_digits(quantity);
  if (!steps[i].name.empty()) text += ' ';
  text += steps[i].name;
  return text;
}

constexpr std::array<Step, 6> kTime{
    {{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}, {60e9, "min"}, {3600e9, "h"}}};
constexpr std::array<Step, 4> kBytes{{{1, "B"}, {1024, "KiB"}, {1048576, "MiB"}, {1073741824, "GiB"}}};
constexpr std::array<Step, 5> kCounts{{{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}}};

std::string count_text(double value) {
  const double magnitude = std::fabs(value);
  if (magnitude < 9999.5) {
    const char* sign = value < 0 ? "-" : "";
    if (magnitude == std::floor(magnitude)) return sign + grouped(fixed(magnitude, 0));
    return sign + three_digits(magnitude);
  }
  return scaled(value, kCounts, false);
}

std::string relative_change(double delta, double before, const std::string& sign) {
  const double percent = std::fabs(delta / before) * 100;
  const std::string digits = percent < 0.1    ? "<0.1"
                             : percent < 9.95 ? fmt::format("{:.1f}", percent)
                                              : count_text(std::round(percent));
  return sign + digits + " %";
}

std::string time_text(double ns) {
  return ns == 0 ? "0 s" : scaled(ns, kTime, true);
}

// How many nanoseconds or bytes one of `unit` is; 0 when it is neither.
double ns_per(std::string_view unit) {
  if (unit == "nanoseconds") return 1;
  if (unit == "microseconds") return 1e3;
  if (unit == "milliseconds") return 1e6;
  if (unit == "seconds") return 1e9;
  if (unit == "minutes") return 60e9;
  if (unit == "hours") return 3600e9;
  return 0;
}
double bytes_per(std::string_view unit) {
  if (unit == "bytes") return 1;
  if (unit == "kilobytes") return 1024;
  if (unit == "megabytes") return 1048576;
  if (unit == "gigabytes") return 1073741824;
  return 0;
}

// Exact for two integers, which doubles above 2^53 are not.
bool equal(const Value& a, const Value& b) {
  if (const auto* x = std::get_if<std::int64_t>(&a)) {
    if (const auto* y = std::get_if<std::int64_t>(&b)) return *x == *y;
  }
  return as_double(a) == as_double(b);
}

bool less_magnitude(const Value& a, const Value& b) {
  const auto* x = std::get_if<std::int64_t>(&a);
  const auto* y = std::get_if<std::int64_t>(&b);
  if (!x || !y) return std::fabs(as_double(a)) < std::fabs(as_double(b));
  const auto magnitude = [](std::int64_t v) {
    return v < 0 ? -static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
  };
  return magnitude(*x) < magnitude(*y);
}

// Of a magnitude in percent, neither 0 nor exactly 100. `below_whole` decides where the double cannot.
std::string percent_text(double percent, bool below_whole) {
  if (percent < 0.1) return "<0.1 %";
  if (percent >= 999.95) return count_text(std::round(percent)) + " %";
  std::string text = fixed(percent, 1);
  if (text == "100.0") text = below_whole ? "99.9" : "100.1";
  return text + " %";
}

}  // namespace

std::string format_value(const Value& value, std::string_view unit) {
  const double number = as_double(value);
  if (std::isnan(number)) return std::string(kUnknown);
  if (std::isinf(number)) return number < 0 ? "-∞" : "∞";
  if (const double factor = ns_per(unit); factor != 0) return time_text(number * factor);
  if (const double factor = bytes_per(unit); factor != 0) return scaled(number * factor, kBytes, true);
  std::string text = count_text(number);
  if (unit == "percent") return text + " %";
  if (unit.empty() || unit == "count" || unit == "samples") return text;
  return fmt::format("{} {}", text, unit);
}

std::string format_value(const std::optional<Value>& value, std::string_view unit) {
  return value ? format_value(*value, unit) : std::string(kUnknown);
}

std::string unit_name(const std::string& unit) {
  return unit == "nanoseconds" ? "ns" : unit;
}

std::string format_count(std::uint64_t count) {
  return count_text(static_cast<double>(count));
}
std::string count_of(std::uint64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", format_count(n), n == 1 ? one : many);
}
std::string format_exact(std::uint64_t count) {
  return grouped(fmt::format("{}", count));
}
std::string format_bytes(std::uint64_t bytes) {
  return scaled(static_cast<double>(bytes), kBytes, true);
}
std::string format_duration_ns(std::int64_t ns) {
  return time_text(static_cast<double>(ns));
}

std::string format_share(const Value& part, const Value& whole) {
  const double p = as_double(part), w = as_double(whole);
  if (std::isnan(p) || std::isnan(w)) return std::string(kUnknown);
  if (w == 0) return std::string(kNotAvailable);
  if (p == 0) return "0 %";
  if (equal(part, whole)) return "100 %";
  const double percent = p / w * 100;
  return (percent < 0 ? "-" : "") + percent_text(std::fabs(percent), less_magnitude(part, whole));
}

std::string format_ratio(double ratio) {
  if (std::isnan(ratio)) return std::string(kUnknown);
  const double magnitude = std::fabs(ratio);
  if (magnitude >= 9999.5) return count_text(ratio);
  if (magnitude >= 0.0995 || magnitude == 0) return fmt::format("{:.2f}", ratio);
  return (ratio < 0 ? "-" : "") + three_digits(magnitude);
}

std::string_view change_mark(Change change) {
  switch (change) {
    case Change::same:
      return "[=]";
    case Change::more:
      return "[+]";
    case Change::less:
      return "[-]";
    case Change::added:
      return "[A]";
    case Change::deleted:
      return "[D]";
  }
  return kUnknown;
}

std::string format_delta(const Value& before, const Value& after, std::string_view unit, bool within_noise) {
  const double b = as_double(before), a = as_double(after);
  if (std::isnan(a) || std::isnan(b)) return std::string(kUnknown);
  double delta = a - b;
  if (const auto* x = std::get_if<std::int64_t>(&before)) {
    // Two large integers may differ by less than their doubles can tell.
    std::int64_t exact;
    if (const auto* y = std::get_if<std::int64_t>(&after); y && !__builtin_sub_overflow(*y, *x, &exact)) {
      delta = static_cast<double>(exact);
    }
  }
  const std::string sign = delta > 0 ? "+" : delta < 0 ? "-" : "±";
  std::string text = within_noise ? "~ " : "";
  text += sign + format_value(Value{std::fabs(delta)}, unit);
  const std::string relative = b == 0 || delta == 0 ? "" : relative_change(delta, b, sign);
  return relative.empty() ? text : text + " (" + relative + ")";
}

std::string relative_change(double before, double after) {
  const double delta = after - before;
  if (before == 0 || delta == 0 || !std::isfinite(delta)) return "";
  return relative_change(delta, before, delta > 0 ? "+" : "-");
}

std::string format_time_utc(std::int64_t ns_since_epoch) {
  using namespace std::chrono;
  const auto seconds_since = floor<seconds>(nanoseconds{ns_since_epoch});
  const auto days_since = floor<days>(seconds_since);
  const year_month_day date{sys_days{days_since}};
  const hh_mm_ss clock{seconds_since - days_since};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

}  // namespace profd
