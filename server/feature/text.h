// How numbers read in every client: three significant digits, by unit. One place, so that a hint, a hover, a
// terminal row and an agent's answer say the same thing the same way. Texts are plain UTF-8 without markup.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/metric.h"
#include "core/view/change.h"

namespace profd {

inline constexpr std::string_view kUnknown = "?";         // not known; never shown as 0
inline constexpr std::string_view kNotAvailable = "n/a";  // division by zero

// "1.24 s", "45.6 MiB", "12.3 k", "4.56 M cycles". `unit` as in MetricInfo; NaN reads "?".
std::string format_value(const Value& value, std::string_view unit);
std::string format_value(const std::optional<Value>& value, std::string_view unit);
// What clients are told a unit is called: "ns" for "nanoseconds", others as they are.
std::string unit_name(const std::string& unit);
// "1,234" up to 9,999, then "12.3 k", "4.56 M".
std::string format_count(std::uint64_t count);
// "1 record", "1,234 records".
std::string count_of(std::uint64_t n, std::string_view one, std::string_view many);
// Every digit, grouped: "41,202".
std::string format_exact(std::uint64_t count);
std::string format_bytes(std::uint64_t bytes);
std::string format_duration_ns(std::int64_t ns);

// "12.3 %", "<0.1 %", "100 %" only when part equals whole; "n/a" when whole is zero.
std::string format_share(const Value& part, const Value& whole);
// A plain number that is no count, with two decimals, more below a tenth: "1.37", "0.0123", "12.3 k".
std::string format_ratio(double ratio);

// "[A]" only after, "[D]" only before, "[+]" more, "[-]" less, "[=]" same.
std::string_view change_mark(Change change);
// "+1.24 s (+34 %)"; without a ratio when there was nothing before; "~" in front when within noise.
std::string format_delta(const Value& before, const Value& after, std::string_view unit,
                         bool within_noise = false);

// "+34 %"; "" where there was nothing before, or nothing changed.
std::string relative_change(double before, double after);

// A point in time, UTC: "2026-11-20 19:28:14 UTC".
std::string format_time_utc(std::int64_t ns_since_epoch);

}  // namespace profd
