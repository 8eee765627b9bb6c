#include "core/layout/timeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace profd {
namespace {

// Where there are too many boxes, narrower ones are joined as well, up to this.
constexpr double kWider[] = {1, 3, 8};

// The window in columns half as wide as the narrowest box that is drawn: whatever is as wide covers at least
// one of them whole.
struct ChartColumns {
  std::int64_t from = 0, to = 0, width = 1;
  // By column, and one more: the first row at its left edge or after it, the first after it.
  std::vector<std::size_t> at, after;
  std::vector<std::uint32_t> least;  // calls that go through all of it
  std::vector<std::uint32_t> most;   // the deepest in it
  [[nodiscard]] std::size_t size() const { return least.size(); }
  [[nodiscard]] std::int64_t edge(std::size_t column) const {
    return column >= size() ? to : from + static_cast<std::int64_t>(column) * width;
  }
  [[nodiscard]] std::size_t column_of(std::int64_t time) const {
    return time >= to ? size() : static_cast<std::size_t>((time - from) / width);
  }
};

ChartColumns columns_of(const TrackRows& rows, std::int64_t from, std::int64_t to, std::int64_t min_width) {
  ChartColumns out;
  out.from = from;
  out.to = to;
  out.width = std::max<std::int64_t>(1, min_width / 2);
  const auto n = static_cast<std::size_t>((to - from + out.width - 1) / out.width);
  out.least.resize(n);
  out.most.resize(n);
  std::size_t row = 0;
  for (std::size_t column = 0; column <= n; ++column) {
    row = rows.row_at(out.edge(column), row);
    out.at.push_back(row);
    while (row < rows.size() && rows.time(row) == out.edge(column)) ++row;
    out.after.push_back(row);
    row = out.at.back();
  }
  for (std::size_t column = 0; column < n; ++column) {
    const std::size_t stands = out.after[column], next = out.at[column + 1];  // one after the row that stands
    std::uint32_t least = 0;
    if (stands > 0 && rows.end(stands - 1) > out.edge(column)) {
      least = rows.depth(stands - 1);
      if (stands < next) least = std::min(least, rows.least_kept(stands, next));
      if (rows.end(std::max(stands, next) - 1) < out.edge(column + 1)) least = 0;
    }
    out.least[column] = least;
    std::uint32_t most = 0;
    if (out.at[column] > 0 && rows.end(out.at[column] - 1) > out.edge(column))
      most = rows.depth(out.at[column] - 1);
    if (out.at[column] < next) most = std::max(most, rows.most_deep(out.at[column], next));
    out.most[column] = most;
  }
  return out;
}

// Draws the rows of a stack or lane. False: there are more boxes than are wanted.
class ChartDrawer {
 public:
  ChartDrawer(const TrackChart& chart, const TrackRows& rows, const ChartColumns& columns,
              std::int64_t min_width, std::uint32_t max_boxes, ChartLayout& out)
      : chart_(chart),
        profile_(*chart.selection->profile),
        rows_(rows),
        columns_(columns),
        min_width_(min_width),
        max_boxes_(max_boxes),
        out_(out) {
    constexpr std::size_t kMostSums = 1 << 20;
    if (columns.size() == 0) return;
    n_depths_ = *std::max_element(columns.most.begin(), columns.most.end());
    if (columns.at.size() * n_depths_ <= kMostSums) at_edges_ = rows.sums_before(columns.at, n_depths_);
  }

  bool draw(std::uint32_t depth, std::uint32_t row_of_layout) {
    depth_ = depth;
    layout_row_ = row_of_layout;
    region_ = columns_.at[0];
    before_ = goes_into_window();
    for (std::size_t column = 0; column < columns_.size() && !full();) {
      if (columns_.least[column] >= depth) {
        column = through(column);
      } else if (columns_.most[column] < depth) {
        join_until(columns_.at[column]);
        while (column < columns_.size() && columns_.most[column] < depth) ++column;
        region_ = columns_.at[column];
      } else {
        ++column;
      }
    }
    if (!full()) join_until(columns_.at[columns_.size()]);
    return !full();
  }

 private:
  [[nodiscard]] bool full() const { return out_.size() > max_boxes_; }

  // Whether a box has begun before the window, and goes on in it.
  [[nodiscard]] bool goes_into_window() const {
    const std::size_t at = columns_.at[0], after = columns_.after[0];
    if (at == 0 || rows_.depth(at - 1) < depth_) return false;
    const std::int64_t end = rows_.end(at - 1);
    if (end > columns_.from || end < columns_.from || at == after) return end > columns_.from;
    return rows_.least_kept(at, after) >= depth_ && rows_.end(after - 1) > columns_.from;
  }

  // A box covers the column; the column in which it ends.
  std::size_t through(std::size_t column) {
    const std::size_t stands = columns_.after[column] - 1;
    const std::size_t first = rows_.last_kept_below(stands, depth_);
    const std::size_t last = rows_.first_kept_below(stands + 1, depth_);
    const std::int64_t end = rows_.end(last - 1);
    const std::int64_t seen = std::min(end, columns_.to) - std::max(rows_.time(first), columns_.from);
    if (seen >= min_width_) {
      // One that has begun before the window is what stood at its edge.
      if (first >= region_) join_until(first);
      add_one(first, last);
      region_ = last;
      before_ = false;
    }
    return std::max(column + 1, columns_.column_of(end));
  }

  // Where nothing runs for a while boxes are joined from edge to edge of columns.
  [[nodiscard]] TrackRows::Sums sums(std::size_t begin, std::size_t end) const {
    const auto edge = [&](std::size_t row) -> const TrackRows::Sums* {
      if (at_edges_.empty()) return nullptr;
      const auto found = std::lower_bound(columns_.at.begin(), columns_.at.end(), row);
      if (found == columns_.at.end() || *found != row) return nullptr;
      return &at_edges_[static_cast<std::size_t>(found - columns_.at.begin()) * n_depths_ + depth_ - 1];
    };
    const TrackRows::Sums* const from = begin < end ? edge(begin) : nullptr;
    const TrackRows::Sums* const to = from != nullptr ? edge(end) : nullptr;
    if (to == nullptr) return rows_.sums(begin, end, depth_);
    return {to->begun - from->begun, to->busy - from->busy};
  }

  // What is between the last wide box, or the last time that nothing ran, and a row.
  void join_until(std::size_t end) {
    const std::size_t begin = std::exchange(region_, end);
    const bool before = std::exchange(before_, false);
    TrackRows::Sums sums = this->sums(begin, end);
    const std::size_t edge = columns_.at[0];
    if (before) {
      ++sums.begun;
      sums.busy += std::min(rows_.end(edge - 1), columns_.to) - columns_.from;
    }
    if (sums.begun == 0) return;
    if (end > begin && rows_.depth(end - 1) >= depth_)
      sums.busy -= std::max<std::int64_t>(0, rows_.end(end - 1) - columns_.to);
    const std::size_t first = before ? edge - 1 : rows_.first_as_deep(begin, depth_);
    if (sums.begun == 1) {
      add_one(rows_.last_kept_below(first, depth_), rows_.first_kept_below(first + 1, depth_));
      return;
    }
    const std::size_t last = rows_.last_as_deep(end - 1, depth_);
    out_.begin.push_back(std::max(rows_.time(first), columns_.from));
    out_.end.push_back(std::min(rows_.end(last), columns_.to));
    add(sums.begun, sums.busy);
    out_.value.push_back(0);
    out_.samples.push_back(0);
    out_.key.push_back(kNone);
    out_.name.push_back(StringId{0u});
    out_.context.push_back(kNone);
    out_.open.push_back(0);
  }

  void add(std::uint64_t count, std::int64_t busy) {
    out_.depth.push_back(layout_row_);
    out_.count.push_back(count);
    out_.busy.push_back(busy);
  }

  // The box of rows [first, last).
  void add_one(std::size_t first, std::size_t last) {
    const std::int64_t begin = rows_.time(first), end = rows_.end(last - 1);
    out_.begin.push_back(begin);
    out_.end.push_back(end);
    add(1, std::max<std::int64_t>(0, std::min(end, columns_.to) - std::max(begin, columns_.from)));
    if (!rows_.has_spans()) {
      std::uint32_t box = chart_.boxes->classes.of_context[profile_.samples()->context[rows_.of(first)]];
      while (chart_.boxes->depth[box] > depth_) box = chart_.boxes->classes.parent[box];
      out_.value.push_back(chart_.tracks->sum(rows_.position(first), rows_.position(last - 1) + 1));
      out_.samples.push_back(chart_.tracks->count(rows_.position(first), rows_.position(last - 1) + 1));
      out_.key.push_back(chart_.boxes->classes.key[box]);
      out_.name.push_back(StringId{0u});
      out_.context.push_back(chart_.boxes->classes.first[box]);
      out_.open.push_back(0);
      return;
    }
    const SpanTable& spans = profile_.timeline()->spans;
    const std::uint32_t span = span_of(first);
    const std::uint32_t context = value_or(spans.context, span, kNone);
    out_.value.push_back(static_cast<double>(end - begin));
    out_.samples.push_back(0);
    out_.key.push_back(
        context == kNone ? kNone : chart_.selection->boxes->keys->of_frame[profile_.tree().frame[context]]);
    out_.name.push_back(context == kNone ? value_or(spans.name, span, StringId{0u}) : StringId{0u});
    out_.context.push_back(context);
    out_.open.push_back(spans.end[span] == kNoTime ? 1 : 0);
  }

  // The span of the box that begins at a row: most begin with their span, others again after one inside that
  // filters leave out.
  [[nodiscard]] std::uint32_t span_of(std::size_t row) const {
    std::uint32_t span = rows_.of(row);
    const auto outer = [&](std::uint32_t of) {
      return of < chart_.first_span || of - chart_.first_span >= chart_.outer.size()
                 ? kNone
                 : chart_.outer[of - chart_.first_span];
    };
    if (rows_.ends(row))
      if (const std::uint32_t around = outer(span); around != kNone) span = around;
    for (std::uint32_t d = rows_.depth(row); d > depth_; --d) {
      const std::uint32_t around = outer(span);
      if (around == kNone) break;
      span = around;
    }
    return span;
  }

  const TrackChart& chart_;
  const Profile& profile_;
  const TrackRows& rows_;
  const ChartColumns& columns_;
  const std::int64_t min_width_;
  const std::uint32_t max_boxes_;
  ChartLayout& out_;
  std::uint32_t depth_ = 1, layout_row_ = 0;
  std::vector<TrackRows::Sums> at_edges_;  // of rows before columns_.at, by column and depth; empty: too many
  std::uint32_t n_depths_ = 0;
  std::size_t region_ = 0;
  bool before_ = false;
};

void add_gaps(const TrackRows& rows, const ChartColumns& columns, std::int64_t min_width, ChartLayout& out) {
  for (std::size_t column = 0; column < columns.size();) {
    const std::size_t next = columns.at[column + 1], before = columns.at[column];
    const bool empty =
        next == before && before > 0 && before < rows.size() && rows.end(before - 1) <= columns.edge(column);
    ++column;
    if (!empty) continue;
    const std::int64_t begin = rows.end(before - 1), end = rows.time(before);
    if (std::min(end, columns.to) - std::max(begin, columns.from) >= min_width) {
      out.gap_begin.push_back(begin);
      out.gap_end.push_back(end);
    }
    column = std::max(column, columns.column_of(end));
  }
}

}  // namespace

Result<ChartLayout> layout_chart(const TrackChart& chart, const ChartRequest& request, StopToken stop) {
  const double pixels = request.width_px >= 1 ? request.width_px : 1;
  const auto length = static_cast<double>(request.to - request.from);
  for (const double wider : kWider) {
    ChartLayout out;
    const double narrowest = length * std::max(request.min_width_px, 1.0) * wider / pixels;
    out.min_width = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(narrowest)), 1,
                                             request.to - request.from);
    const bool last_try = wider == kWider[std::size(kWider) - 1];
    const ChartColumns columns = columns_of(chart.calls, request.from, request.to, out.min_width);
    out.rows = columns.size() == 0 ? 0 : *std::max_element(columns.most.begin(), columns.most.end());
    ChartDrawer drawer(chart, chart.calls, columns, out.min_width, request.max_boxes, out);
    bool fits = true;
    std::vector<std::size_t> row_begins;
    for (std::uint32_t depth = 1; depth <= out.rows && fits; ++depth) {
      PROFD_CHECK(stop.status());
      row_begins.push_back(out.size());
      fits = drawer.draw(depth, depth - 1);
    }
    // Between durations nothing ran; where a timer did not tick nobody knows.
    if (!chart.calls.has_spans() && !chart.tracks->lasts())
      add_gaps(chart.calls, columns, out.min_width, out);
    for (std::uint32_t lane = 0; lane < chart.lanes.size() && fits; ++lane) {
      const ChartColumns lane_columns =
          columns_of(chart.lanes[lane], request.from, request.to, out.min_width);
      row_begins.push_back(out.size());
      fits = ChartDrawer(chart, chart.lanes[lane], lane_columns, out.min_width, request.max_boxes, out)
                 .draw(1, out.rows + lane);
      out.lanes = lane + 1;
    }
    if (!fits && !last_try) continue;
    if (!fits) {
      // Rows that are not whole say nothing.
      const std::size_t left = row_begins.back();
      for (auto* column : {&out.depth, &out.key, &out.context}) column->resize(left);
      for (auto* column : {&out.begin, &out.end, &out.busy}) column->resize(left);
      out.count.resize(left);
      out.samples.resize(left);
      out.value.resize(left);
      out.name.resize(left);
      out.open.resize(left);
      out.rows_left_out = out.rows + static_cast<std::uint32_t>(chart.lanes.size()) -
                          static_cast<std::uint32_t>(row_begins.size() - 1);
    }
    return out;
  }
  return ChartLayout{};
}

}  // namespace profd
