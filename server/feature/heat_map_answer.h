// A heat map as clients get it: the cells of a grid of time, with texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layout/heat_map.h"
#include "server/feature/view_answer.h"

namespace profd {

struct HeatMapAsked {
  OpenProfilePtr open;
  ViewSpec spec;  // its shape does not matter
  HeatMapRequest grid;
};

struct HeatMapAnswer {
  ViewHead head;
  std::int64_t begin = 0, end = 1, from = 0, column = 1;
  std::string column_text, row_text;
  std::uint32_t columns = 0, rows = 0;
  std::vector<Value> values;        // [column * rows + row]
  std::vector<std::uint32_t> text;  // in `texts`
  std::vector<std::string> texts;
  Value full;  // the largest
  std::string full_text;
  Amount held;
  std::string basis;
};
Needs needs_of(const HeatMapAsked& request);
// Fails as heat_map() does.
Result<HeatMapAnswer> heat_map_answer(Views& views, const HeatMapAsked& request, const StopToken& stop);

// Of a range of cells, from the first to the last in time, the clause of a view that keeps what they hold.
std::string heat_map_filter(const HeatMapAnswer& answer, std::size_t first_cell, std::size_t last_cell);

}  // namespace profd
