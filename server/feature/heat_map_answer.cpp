#include "server/feature/heat_map_answer.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/feature/text.h"
#include "server/feature/text_index.h"

namespace profd {

Needs needs_of(const HeatMapAsked& request) {
  return {{Part::selection, request.spec}};
}

Result<HeatMapAnswer> heat_map_answer(Views& views, const HeatMapAsked& request, const StopToken& stop) {
  ViewSpec spec = request.spec;
  spec.shape = Shape::top_down;
  spec.focus.clear();
  const OpenProfile& open = *request.open;
  PROFD_TRY(const PreparedView view, prepare_view(views, open, spec, stop));
  PROFD_TRY(const HeatMap map, heat_map(*view.selection, request.grid, stop));
  HeatMapAnswer out;
  out.head = head_of(open, spec, view);
  if (as_double(map.without_time) != 0)
    out.head.warnings.insert(out.head.warnings.begin(),
                             fmt::format("{} belongs to samples without a time, which are in no cell",
                                         view.whole.text(map.without_time)));
  out.begin = map.begin;
  out.end = map.end;
  out.from = map.from;
  out.column = map.column;
  out.columns = map.columns;
  out.rows = map.rows;
  out.column_text = format_duration_ns(map.column);
  out.row_text = format_duration_ns(map.column / map.rows);
  TextIndex texts(out.texts);
  std::visit(
      [&](const auto& values) {
        out.full = Value{values[0]};
        for (const auto value : values) {
          out.values.emplace_back(value);
          out.text.push_back(static_cast<std::uint32_t>(texts.index_of(view.whole.text(Value{value}))));
          if (value > std::get<std::remove_cvref_t<decltype(value)>>(out.full)) out.full = Value{value};
        }
      },
      map.values);
  out.full_text = view.whole.text(out.full);
  out.held = amount_of(view.whole, map.held);
  out.basis =
      fmt::format("A cell has the {} of {}, a column is {}; time goes up, then on to the next column.",
                  out.head.metric, out.row_text, out.column_text);
  return out;
}

std::string heat_map_filter(const HeatMapAnswer& answer, std::size_t first_cell, std::size_t last_cell) {
  const auto edge = [&](std::size_t cell) {
    return answer.from + static_cast<std::int64_t>(cell / answer.rows) * answer.column +
           heat_row_edge(answer.column, static_cast<std::uint32_t>(cell % answer.rows), answer.rows);
  };
  Filter window;
  window.by = FilterBy::time;
  window.from_ns = edge(std::min(first_cell, last_cell));
  window.to_ns = edge(std::max(first_cell, last_cell) + 1);
  return to_text(window);
}

}  // namespace profd
