// Heat map: a grid of time. A column is a second, or another step, and its rows are the parts of it, from the
// first on; a cell has what of a view was measured in its moment. Every sample goes to the cell of its time;
// a value that is a duration (core/view/durations.h) is cut at the edges of cells. All cells together have
// what the window holds, and cells that lie side by side have what a filter by time gives for them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/support/stop.h"
#include "core/view/selection.h"

namespace profd {

inline constexpr std::uint32_t kMaxHeatColumns = 1200, kMaxHeatRows = 100;

struct HeatMapRequest {
  std::optional<std::int64_t> from = {}, to = {};  // what is looked at; absent: all there is
  std::int64_t column = 0;                         // nanoseconds; 0: chosen by the length
  std::uint32_t rows = 0;                          // 0: chosen by how often was measured
  std::uint32_t max_columns = 600;
};

struct HeatMap {
  std::int64_t begin = 0, end = 1;  // of the samples
  std::int64_t from = 0;    // where the first column begins: a multiple of `column`, `begin` lies in it
  std::int64_t column = 1;  // nanoseconds
  std::uint32_t columns = 0, rows = 0;
  ValueColumn values;        // [column * rows + row]
  Value held, without_time;  // all cells together; of samples that have no time
};

// Fails with `invalid` for a profile without times, and a window that is none; `limit` where the columns that
// are asked for are too many.
Result<HeatMap> heat_map(const Selection& selection, const HeatMapRequest& request, StopToken stop);

// Where a row begins, nanoseconds after its column does; row `rows`: where it ends.
std::int64_t heat_row_edge(std::int64_t column, std::uint32_t row, std::uint32_t rows);

}  // namespace profd
