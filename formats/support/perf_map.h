// perf-PID.map: the symbols of a process's JIT code, one a line: `START SIZE name`, both hexadecimal.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/support/code_ranges.h"

namespace profd {

struct PerfMapLine {
  std::uint64_t start = 0, size = 0;
  std::string_view name;
};
// Nothing when the line is none, or its range leaves 64 bits.
std::optional<PerfMapLine> parse_perf_map_line(std::string_view line);

struct PerfMap {
  CodeRanges ranges;                 // rows of `symbols`; later lines replace earlier ones
  std::vector<PerfMapLine> symbols;  // names point into the text
  std::uint64_t n_malformed = 0;
};
PerfMap parse_perf_map(std::string_view text);

}  // namespace profd
