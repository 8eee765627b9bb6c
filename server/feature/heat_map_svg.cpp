#include "server/feature/heat_map_svg.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "server/feature/escape.h"
#include "server/feature/timeline_answer.h"

namespace profd {
namespace {

constexpr double kHeatLeft = 70, kHeatTop = 56, kHeatWidth = 1500, kHeatHeight = 500, kHeatAxis = 30;

}  // namespace

std::string heat_map_svg(const HeatMapAnswer& answer, const std::string& title) {
  // No wider than tall: a few columns are a strip, not a wall.
  const double cell_height = std::clamp(kHeatHeight / answer.rows, 5.0, 20.0);
  const double cell_width = std::clamp(kHeatWidth / answer.columns, 1.0, 20.0);
  const double bottom = kHeatTop + cell_height * answer.rows;
  const double width = std::max(700.0, kHeatLeft + cell_width * answer.columns + 20);
  const double full = as_double(answer.full);
  std::string body;
  for (std::size_t cell = 0; cell < answer.values.size(); ++cell) {
    const double value = as_double(answer.values[cell]);
    if (!(value > 0)) continue;
    const double x = kHeatLeft + cell_width * static_cast<double>(cell / answer.rows);
    const double y = bottom - cell_height * (static_cast<double>(cell % answer.rows) + 1);
    // One hue, by the square root of the share.
    body += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
        "fill-opacity=\"{:.3f}\"><title>{}\n{}"
        "</title></rect>\n",
        x, y, std::max(0.5, cell_width - (cell_width > 4 ? 1 : 0)), cell_height - (cell_height > 4 ? 1 : 0),
        std::max(0.06, std::sqrt(std::min(1.0, full > 0 ? value / full : 0))),
        escape_markup(answer.texts[answer.text[cell]]), escape_markup(heat_map_filter(answer, cell, cell)));
  }
  std::string axes;
  const auto apart = static_cast<std::uint32_t>(std::max(1.0, std::ceil(80 / cell_width)));
  for (std::uint32_t column = 0; column < answer.columns; column += apart)
    axes += fmt::format("<text class=\"d\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                        kHeatLeft + cell_width * column, bottom + 16,
                        escape_markup(moment_text(answer.from + answer.column * column, answer.column)));
  const auto row_step = static_cast<std::uint32_t>(std::max(1.0, std::ceil(24 / cell_height)));
  for (std::uint32_t row = 0; row < answer.rows; row += row_step)
    axes += fmt::format("<text class=\"d\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">+{}</text>\n",
                        kHeatLeft - 6, bottom - cell_height * row - 2,
                        escape_markup(moment_text(heat_row_edge(answer.column, row, answer.rows),
                                                  std::max<std::int64_t>(1, answer.column / answer.rows))));
  return fmt::format(
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
             "width=\"{0:.0f}\" "
             "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"Verdana, DejaVu Sans, "
             "sans-serif\" "
             "font-size=\"11\">\n<style>svg {{ --ground: #fff; --ink: #1d1d22; --dim: #5b5b66; --empty: "
             "#f1f1f5; "
             "--heat: #b33c00; }} @media (prefers-color-scheme: dark) {{ svg {{ --ground: #1b1b1f; --ink: "
             "#e6e6ea; "
             "--dim: #a0a0aa; --empty: #26262c; --heat: #ff9a4d; }} }} text {{ fill: var(--ink); }} .d {{ "
             "fill: "
             "var(--dim); }} .h {{ fill: var(--heat); }}</style>\n<rect width=\"100%\" height=\"100%\" "
             "fill=\"var(--ground)\"/>\n<text x=\"10\" y=\"22\" font-size=\"15\" "
             "font-weight=\"600\">{2}</text>\n<text "
             "class=\"d\" x=\"10\" y=\"40\">{3}</text>\n<rect x=\"{4}\" y=\"{5}\" width=\"{6:.2f}\" "
             "height=\"{7:.2f}\" "
             "fill=\"var(--empty)\"/>\n<g class=\"h\">\n",
             width, bottom + kHeatAxis, escape_markup(title),
             escape_markup(fmt::format("{} Most in a cell: {}.", answer.basis, answer.full_text)), kHeatLeft,
             kHeatTop, cell_width * answer.columns, cell_height * answer.rows) +
         body + "</g>\n" + axes + "</svg>\n";
}

}  // namespace profd
