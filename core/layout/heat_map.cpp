#include "core/layout/heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "core/support/sums.h"
#include "core/view/durations.h"
#include "core/view/passing.h"
#include "core/view/sample_parts.h"

namespace profd {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMostColumn = kMaxInstant / kMaxHeatRows;  // that rows of it can be counted
// Differences of times, and twice these, can be counted.
constexpr std::int64_t kTooFar = std::numeric_limits<std::int64_t>::max() / 4;

struct SampledTime {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
};

std::int64_t chosen_column(std::int64_t length, std::uint32_t most) {
  constexpr std::int64_t kFew = 10;  // columns that make a picture
  if (length < kFew * kSecond) {
    std::int64_t column = kSecond;
    while (column > 1 && length / column < kFew) column /= 10;
    // A step of ten may be too many.
    for (const std::int64_t times : {2, 5})
      if (length / column >= most) column *= times;
    return column;
  }
  constexpr std::array<std::int64_t, 17> kSteps{1,   2,    5,    10,   20,   30,    60,    120,  300,
                                                600, 1200, 1800, 3600, 7200, 21600, 43200, 86400};
  for (const std::int64_t step : kSteps)
    if (length / (step * kSecond) < most) return step * kSecond;
  return std::min(kMostColumn, length / most + 1);
}

// How often the busiest thread was measured: the median of up to a thousand gaps between its samples. 0:
// nobody can tell.
std::int64_t measured_each(const Profile& profile) {
  const SampleTable& samples = *profile.samples();
  const auto n = static_cast<std::uint32_t>(samples.size());
  std::vector<std::uint32_t> count(profile.threads().size() + 1, 0);
  for (std::uint32_t row = 0; row < n; ++row)
    ++count[std::min<std::size_t>(value_or(samples.thread, row, kNone), count.size() - 1)];
  const auto busiest = static_cast<std::size_t>(std::max_element(count.begin(), count.end()) - count.begin());
  std::uint32_t first = 0;
  for (std::size_t thread = 0; thread < busiest; ++thread) first += count[thread];
  const std::uint32_t stride = std::max(1u, count[busiest] / 1000);
  const SampleOrder& order = profile.timeline()->samples;
  std::vector<std::int64_t> gaps;
  for (std::uint32_t i = 1; i < count[busiest]; i += stride) {
    const std::int64_t before = samples.time[order.row_at(first + i - 1)],
                       after = samples.time[order.row_at(first + i)];
    if (before != kNoTime && after > before) gaps.push_back(after - before);
  }
  if (gaps.empty()) return 0;
  std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
  return gaps[gaps.size() / 2];
}

std::uint32_t chosen_rows(std::int64_t column, std::int64_t each) {
  constexpr std::int64_t kPerCell = 4;
  constexpr std::array<std::uint32_t, 6> kSteps{50, 25, 20, 10, 5, 2};
  for (const std::uint32_t rows : kSteps)
    if (column / rows >= kPerCell * each && column >= rows) return rows;
  return 1;
}

// The cells of a grid, and where they begin and end.
struct Grid {
  std::int64_t from, column;
  std::uint32_t columns, rows;

  [[nodiscard]] std::int64_t to() const { return from + column * columns; }
  [[nodiscard]] std::size_t cell(std::int64_t time) const {
    const std::int64_t since = time - from, in = since % column;
    return static_cast<std::size_t>(since / column * rows + in * rows / column);
  }
  [[nodiscard]] std::int64_t edge(std::size_t cell) const {
    return from + static_cast<std::int64_t>(cell / rows) * column +
           heat_row_edge(column, static_cast<std::uint32_t>(cell % rows), rows);
  }
};

// Adds to cells; samples that follow each other are often in one.
template <class T>
class Cells {
 public:
  Cells(const Grid& grid, bool saturated)
      : grid_(grid), saturated_(saturated), values_(std::size_t{grid.columns} * grid.rows, T{}) {}

  // Where the time is in the grid.
  bool at(std::int64_t time) {
    if (time >= begin_ && time < end_) return true;
    if (time < grid_.from || time >= grid_.to()) return false;
    cell_ = grid_.cell(time);
    begin_ = grid_.edge(cell_);
    end_ = grid_.edge(cell_ + 1);
    return true;
  }
  void add(T value) { values_[cell_] = profd::add(values_[cell_], value, saturated_); }
  // `before(moment)` is what of a value that lies in [begin, end) lies before a moment.
  template <class Before>
  void spread(std::int64_t begin, std::int64_t end, Before before) {
    const std::int64_t to = std::min(end, grid_.to());
    std::int64_t moment = std::max(begin, grid_.from);
    if (moment >= to) return;
    T last = before(moment);
    while (moment < to && at(moment)) {
      moment = std::min(end_, to);
      const T next = before(moment);
      add(static_cast<T>(next - last));
      last = next;
    }
  }
  [[nodiscard]] std::vector<T> take() && { return std::move(values_); }

 private:
  Grid grid_;
  bool saturated_;
  std::vector<T> values_;
  std::size_t cell_ = 0;
  std::int64_t begin_ = 0, end_ = 0;  // of the cell
};

// Where a duration ends; not beyond what can be counted.
template <class T>
std::int64_t end_of_duration(std::int64_t time, T value, std::int64_t scale) {
  const double length = static_cast<double>(value) * static_cast<double>(scale);
  if (!(length > 0)) return time;
  if (length >= static_cast<double>(kTooFar)) return std::max(time, kTooFar);
  if constexpr (std::is_same_v<T, std::int64_t>)
    return time + value * scale;
  else
    return time + static_cast<std::int64_t>(std::ceil(length));
}

}  // namespace

std::int64_t heat_row_edge(std::int64_t column, std::uint32_t row, std::uint32_t rows) {
  return (column * row + rows - 1) / rows;
}

Result<HeatMap> heat_map(const Selection& selection, const HeatMapRequest& request, StopToken stop) {
  const Profile& profile = *selection.profile;
  const SampleTable* const samples = profile.samples();
  if (samples == nullptr || samples->time.empty() || profile.timeline() == nullptr)
    return fail(ErrorCode::invalid, "the profile does not say when its samples were taken");
  const MetricId metric = selection.metric();
  PROFD_TRY(const std::vector<std::int64_t> scales, duration_metrics(profile, stop));
  const std::int64_t scale = scales[metric.v];
  const auto& filters = selection.rows->filters;
  std::vector<std::string> told;  // by the selection already
  PROFD_TRY(const SampleParts parts, SampleParts::of(profile, filters, told, stop));
  PROFD_TRY(const std::vector<std::uint8_t> stacks, stacks_that_pass(selection, stop));
  const bool all = filters.empty();
  const auto n = static_cast<std::uint32_t>(samples->size());

  return std::visit(
      [&](const auto& values) -> Result<HeatMap> {
        using T = std::remove_cvref_t<decltype(values[0])>;
        SampledTime time;
        for (std::uint32_t row = 0; row < n; ++row) {
          if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
          const std::int64_t begin = samples->time[row];
          if (begin == kNoTime) continue;
          time.begin = std::min(time.begin, begin);
          time.end = std::max(time.end, scale == 0 ? begin : end_of_duration(begin, values[row], scale) - 1);
        }
        if (time.begin > time.end)
          return fail(ErrorCode::invalid, "the profile does not say when its samples were taken");
        if (time.begin < -kTooFar || time.end > kTooFar)
          return fail(ErrorCode::invalid, "the times of the profile lie too far apart to be drawn");
        HeatMap out;
        out.begin = time.begin;
        out.end = time.end + 1;
        const std::int64_t from = std::max(out.begin, request.from.value_or(out.begin)),
                           to = std::min(out.end, request.to.value_or(out.end));
        if (to <= from) return fail(ErrorCode::invalid, "the window of time holds nothing of the profile");
        const std::uint32_t most = std::clamp(request.max_columns, 1u, kMaxHeatColumns);
        out.column = request.column > 0 ? request.column : chosen_column(to - from, std::max(2u, most) - 1);
        if (out.column > kMostColumn)
          return fail(ErrorCode::invalid, "a column of a heat map is shorter than a day");
        out.rows = std::min(kMaxHeatRows, request.rows);
        if (out.rows == 0) out.rows = chosen_rows(out.column, scale != 0 ? 0 : measured_each(profile));
        out.rows = static_cast<std::uint32_t>(std::min<std::int64_t>(out.rows, out.column));
        // Columns begin at moments that are round, so that windows made of them can be read.
        const std::int64_t over = out.begin % out.column;
        const std::int64_t first = out.begin - (over < 0 ? over + out.column : over);
        out.from = first + (from - first) / out.column * out.column;
        const std::int64_t columns = (to - 1 - out.from) / out.column + 1;
        if (columns > kMaxHeatColumns)
          return fail(ErrorCode::limit,
                      fmt::format("a heat map has at most {} columns; ask for longer ones", kMaxHeatColumns));
        out.columns = static_cast<std::uint32_t>(columns);

        const bool saturated = profile.metrics()[metric.v].saturated;
        Cells<T> cells({out.from, out.column, out.columns, out.rows}, saturated);
        T without_time{};
        for (std::uint32_t row = 0; row < n; ++row) {
          if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
          if (!all && (!parts.passes(row) || (!stacks.empty() && stacks[samples->context[row]] == 0)))
            continue;
          const bool cut = parts.parts()[row] == SamplePart::cut;
          const T value = finite(values[row]);
          const std::int64_t begin = samples->time[row];
          if (begin == kNoTime) {
            without_time = add(without_time, value, saturated);
          } else if (scale != 0 && value > 0) {
            const std::int64_t end = end_of_duration(begin, value, scale);
            cells.spread(begin, end, [&](std::int64_t moment) -> T {
              if (cut) return std::get<T>(parts.value_before(row, metric, moment));
              if (moment <= begin) return T{};
              if (moment >= end) return value;
              if constexpr (std::is_same_v<T, std::int64_t>)
                return (moment - begin) / scale;
              else
                return value * (static_cast<double>(moment - begin) / static_cast<double>(end - begin));
            });
          } else if (cells.at(begin)) {
            cells.add(cut ? std::get<T>(parts.value(row, metric)) : value);
          }
        }
        std::vector<T> grid = std::move(cells).take();
        T held{};
        for (const T value : grid) held = add(held, value, saturated);
        out.held = held;
        out.without_time = without_time;
        out.values = Column<T>(std::move(grid));
        return out;
      },
      samples->values[metric.v]);
}

}  // namespace profd
