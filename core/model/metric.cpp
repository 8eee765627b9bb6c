#include "core/model/metric.h"

#include <array>
#include <utility>

namespace profd {

std::string normalize_unit(std::string_view unit) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kUnits{{
      {"ns", "nanoseconds"},
      {"nanosecond", "nanoseconds"},
      {"us", "microseconds"},
      {"\xC2\xB5s", "microseconds"},
      {"\xCE\xBCs", "microseconds"},
      {"microsecond", "microseconds"},
      {"ms", "milliseconds"},
      {"millisecond", "milliseconds"},
      {"s", "seconds"},
      {"sec", "seconds"},
      {"second", "seconds"},
      {"b", "bytes"},
      {"B", "bytes"},
      {"byte", "bytes"},
      {"kb", "kilobytes"},
      {"kilobyte", "kilobytes"},
      {"mb", "megabytes"},
      {"megabyte", "megabytes"},
      {"counts", "count"},
      {"objects", "count"},
      {"none", ""},
  }};
  for (const auto& [alias, canonical] : kUnits) {
    if (alias == unit) return std::string(canonical);
  }
  return std::string(unit);
}

}  // namespace profd
