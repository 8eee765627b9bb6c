// Metrics and their values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/support/column.h"
#include "core/support/id.h"

namespace profd {

struct MetricInfo {
  std::string name;  // "cpu", "alloc_space", "samples": as the profiler says
  std::string unit;  // canonical, see normalize_unit: "nanoseconds", "bytes", "count", or the file's own word
  bool saturated = false;  // some sum did not fit int64 and was clamped; every answer says so
};

// One value a row, integers where the source is integral.
using ValueColumn = std::variant<Column<std::int64_t>, Column<double>>;
inline std::size_t bytes_of(const ValueColumn& column) {
  return std::visit([](const auto& values) { return values.bytes(); }, column);
}

// A single value of either kind. Integers stay exact; doubles carry fractional sources.
using Value = std::variant<std::int64_t, double>;

inline double as_double(const Value& value) {
  return std::visit([](auto v) { return static_cast<double>(v); }, value);
}

// Self values by context, for all metrics at once.
// `contexts` is ascending; a context may stand in several rows (they add up).
struct SelfTable {
  Column<std::uint32_t> contexts;
  std::vector<ValueColumn> values;  // by MetricId, each as long as contexts
};

// "ns" -> "nanoseconds", "B" -> "bytes"; what is not known is returned unchanged.
std::string normalize_unit(std::string_view unit);

}  // namespace profd
