#include "server/feature/analysis_answer.h"

#include <cmath>

#include <fmt/format.h>

#include "core/model/metric.h"
#include "server/feature/text.h"

namespace profd {
namespace {

// Whole numbers without a unit are counts, or ids: they are written out.
std::string number_text(double value, const std::string& unit) {
  constexpr double kMostExact = 9007199254740992;  // 2^53
  if (unit == "%") return fmt::format("{:.1f} %", value);
  const bool is_whole = std::nearbyint(value) == value && std::fabs(value) < kMostExact;
  if (unit.empty()) return is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
  return is_whole ? format_value(Value(static_cast<std::int64_t>(value)), unit)
                  : format_value(Value(value), unit);
}

}  // namespace

AnalysisTable analysis_table(const worker::ScriptTable& table) {
  AnalysisTable out;
  out.title = table.title;
  out.left = table.left;
  const std::size_t n = table.columns.size();
  for (std::size_t c = 0; c < n; ++c)
    out.columns.push_back(
        {table.columns[c], table.units[c].empty() ? "" : normalize_unit(table.units[c]), false});
  for (std::size_t row = 0; row < table.n_rows(); ++row) {
    std::vector<std::string>& cells = out.cells.emplace_back();
    std::vector<std::optional<double>>& values = out.values.emplace_back();
    for (std::size_t c = 0; c < n; ++c) {
      const worker::ScriptCell& cell = table.cells[row * n + c];
      cells.push_back(cell.is_number ? number_text(cell.number, out.columns[c].unit) : cell.text);
      values.push_back(cell.is_number ? std::optional(cell.number) : std::nullopt);
    }
  }
  for (std::size_t c = 0; c < n; ++c) {
    bool any = false, all = true;
    for (std::size_t row = 0; row < out.cells.size(); ++row) {
      any = any || out.values[row][c].has_value();
      all = all && (out.values[row][c].has_value() || out.cells[row][c].empty());
    }
    out.columns[c].is_number = any && all;
  }
  return out;
}

std::string analysis_text(const ScriptOutcome& outcome) {
  std::string out = outcome.text;
  if (outcome.text_left > 0)
    out += fmt::format("\n… {} more that were printed are not shown\n", format_bytes(outcome.text_left));
  return out;
}

}  // namespace profd
