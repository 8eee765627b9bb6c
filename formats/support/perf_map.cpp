#include "formats/support/perf_map.h"

#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"

namespace profd {

std::optional<PerfMapLine> parse_perf_map_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = line.find(' ', first + 1);
  if (second == std::string_view::npos || second + 1 == line.size()) return std::nullopt;
  PerfMapLine out;
  if (!parse_hex(line.substr(0, first), out.start)) return std::nullopt;
  if (!parse_hex(line.substr(first + 1, second - first - 1), out.size)) return std::nullopt;
  if (out.start + out.size < out.start) return std::nullopt;
  out.name = line.substr(second + 1);
  return out;
}

PerfMap parse_perf_map(std::string_view text) {
  PerfMap map;
  LineReader lines(text);
  for (std::string_view line; lines.next(line);) {
    if (line.empty()) continue;
    const auto parsed = parse_perf_map_line(line);
    if (!parsed) {
      ++map.n_malformed;
      continue;
    }
    map.ranges.insert(parsed->start, parsed->start + parsed->size,
                      static_cast<std::uint32_t>(map.symbols.size()));
    map.symbols.push_back(*parsed);
  }
  return map;
}

}  // namespace profd
