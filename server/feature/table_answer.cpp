#include "server/feature/table_answer.h"

#include <algorithm>
#include <numeric>

#include "core/view/call_paths.h"
#include "server/feature/matching_rows.h"

namespace profd {
namespace {

void set_own(const PreparedView& view, const Value& value, TableAnswer& out) {
  if (as_double(value) != 0) out.own = amount_of(view.whole, value);
}

// What is said of noise, of rows by change.
struct Judged {
  std::shared_ptr<const Noise> noise;
  std::string verdict;
  std::vector<ShiftText> shifts;
  std::size_t n_shifts = 0;
};

FlatView rows_of_file(const Selection& selection, const FlatView& flat, const std::string& file) {
  FlatView out;
  for (std::size_t row = 0; row < flat.key.size(); ++row)
    if (key_place(*selection.profile, *selection.boxes->keys, flat.key[row]).file == file)
      out.add_row(flat, row);
  return out;
}

Result<FlatView> rows_by_metric(Views& views, const TableAnswerRequest& request, const PreparedView& view,
                                const FlatView& flat, const StopToken& stop);

Result<void> write_flat(Views& views, const TableAnswerRequest& request, const PreparedView& view,
                        RowWriter& writer, Judged& judged, TableAnswer& out, const StopToken& stop) {
  PROFD_TRY(const auto flat, views.flat(*request.open, request.spec, stop));
  TableRequest page;
  page.sort = request.sort;
  page.descending = request.descending;
  page.offset = request.offset;
  page.limit = request.limit;
  FlatView matching;
  const bool picks = !request.search.empty() || !request.file.empty();
  if (!request.search.empty()) {
    PROFD_TRY(const auto found, views.search(*request.open, request.spec, request.search, stop));
    matching = matching_rows(*flat, *found);
  }
  if (!request.file.empty())
    matching = rows_of_file(*view.selection, request.search.empty() ? *flat : matching, request.file);
  if (!picks) set_own(view, flat->frameless, out);
  if (request.by_change) {
    PROFD_TRY(ChangedRows changed,
              rows_by_change(views, *request.open, request.spec, view, picks ? matching : *flat,
                             *request.by_change, request.changed_only, stop));
    matching = std::move(changed.rows);
    judged = {std::move(changed.noise), std::move(changed.verdict), std::move(changed.shifts),
              changed.n_shifts};
    if (changed.n_unchanged > 0)
      out.unchanged = remainder_of(view.whole, changed.n_unchanged, changed.self_unchanged, 0);
  }
  const bool by_metric = !request.by_change && !request.sort_metric.empty() && request.sort != SortBy::name;
  if (by_metric) {
    PROFD_TRY(matching, rows_by_metric(views, request, view, picks ? matching : *flat, stop));
  }
  const FlatView& shown = picks || request.by_change || by_metric ? matching : *flat;
  const TablePage rows = request.by_change || by_metric ? page_in_order(*view.selection, shown, page)
                                                        : page_of(*view.selection, shown, page);
  for (const std::uint32_t row : rows.rows)
    writer.row(shown.key[row], shown.self[row], shown.total[row], false, shown.estimate_of(row));
  out.n_rows = rows.n_rows;
  if (rows.n_left_out > 0)
    out.remainder =
        remainder_of(view.whole, rows.n_left_out, rows.self_left_out, page.offset + rows.rows.size());
  return {};
}

Result<void> write_level(const TableAnswerRequest& request, const PreparedView& view, RowWriter& writer,
                         TableAnswer& out, const StopToken& stop) {
  TreeRequest tree;
  tree.shape = request.spec.shape;
  tree.focus = view.focus;
  PROFD_TRY(tree.path, to_keys(request.expand, *view.selection));
  tree.offset = request.offset;
  tree.limit = request.limit;
  PROFD_TRY(const TreeLevel level, tree_level(*view.selection, tree, stop));
  for (std::size_t i = 0; i < level.key.size(); ++i)
    writer.row(level.key[i], level.child_self[i], level.child_total[i], level.has_children[i] != 0,
               level.child_estimate.empty() ? kExact : level.child_estimate[i]);
  set_own(view, level.self, out);
  out.n_rows = level.n_children;
  const std::size_t end = tree.offset + level.key.size();
  if (end < level.n_children)
    out.remainder = remainder_of(view.whole, level.n_children - end, level.total_left_out, end);
  return {};
}

// Whether the level is of calls that were divided (call_paths.h), as its values then are.
bool is_divided(const PreparedView& view, Shape shape) {
  const Selection& selection = *view.selection;
  return std::holds_alternative<Column<double>>(selection.sums->totals)
             ? CallPaths<double>::answers(selection, shape, view.focus)
             : CallPaths<std::int64_t>::answers(selection, shape, view.focus);
}

// Paths from the root to rows of one level: those above them first.
struct LevelBoxes {
  std::vector<std::uint32_t> parent{kNone};
  std::vector<Key> key{kNone};
  std::size_t n_above = 1;
  bool divided = false;

  LevelBoxes(const PreparedView& view, Shape shape, const std::vector<Key>& path,
             const std::vector<Key>& children)
      : divided(is_divided(view, shape)) {
    for (const Key step : path) {
      parent.push_back(static_cast<std::uint32_t>(parent.size() - 1));
      key.push_back(step);
    }
    n_above = parent.size();
    for (const Key child : children) {
      parent.push_back(static_cast<std::uint32_t>(n_above - 1));
      key.push_back(child);
    }
  }
};

void drop_first(MetricNumbers& numbers, std::size_t n) {
  for (auto* column : {&numbers.self, &numbers.total})
    column->erase(column->begin(), column->begin() + static_cast<std::ptrdiff_t>(n));
}

Result<MetricRows> other_metric(Views& views, const TableAnswerRequest& request, const PreparedView& view,
                                const std::string& name, const std::vector<std::int64_t>& row_keys,
                                const StopToken& stop) {
  const OpenProfile& open = *request.open;
  const std::vector<Key> keys(row_keys.begin(), row_keys.end());
  SidedNumbers numbers;
  if (request.spec.shape == Shape::flat) {
    PROFD_TRY(numbers, metric_of_keys(views, open, request.spec, name, keys, stop));
  } else {
    PROFD_TRY(const std::vector<Key> path, to_keys(request.expand, *view.selection));
    const LevelBoxes boxes(view, request.spec.shape, path, keys);
    PROFD_TRY(numbers, metric_of_boxes(views, open, request.spec, name, view.focus,
                                       {boxes.parent, boxes.key, boxes.divided},
                                       BoxValuesWanted::totals_and_selves, stop));
    drop_first(numbers.now, boxes.n_above);
    if (numbers.before) drop_first(*numbers.before, boxes.n_above);
  }
  return metric_rows(open, name, std::move(numbers));
}

// The rows by another metric, then by the other of its two numbers, then by name; without a value last.
Result<FlatView> rows_by_metric(Views& views, const TableAnswerRequest& request, const PreparedView& view,
                                const FlatView& flat, const StopToken& stop) {
  PROFD_TRY(const SidedNumbers numbers,
            metric_of_keys(views, *request.open, request.spec, request.sort_metric, flat.key, stop));
  const bool by_self = request.sort == SortBy::self;
  const auto& by = by_self ? numbers.now.self : numbers.now.total;
  const auto& then = by_self ? numbers.now.total : numbers.now.self;
  const std::vector<std::uint32_t>& rank = view.selection->boxes->keys->name_rank;
  std::vector<std::uint32_t> order(flat.key.size());
  std::iota(order.begin(), order.end(), 0u);
  // -1 before, 1 behind.
  const auto compared = [&](const std::vector<std::optional<Value>>& column, std::uint32_t a,
                            std::uint32_t b) {
    if (!column[a] || !column[b]) return column[a] ? -1 : column[b] ? 1 : 0;
    const double x = as_double(*column[a]), y = as_double(*column[b]);
    if (x == y) return 0;
    return (x > y) == request.descending ? -1 : 1;
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (const int first = compared(by, a, b); first != 0) return first < 0;
    if (const int second = compared(then, a, b); second != 0) return second < 0;
    return rank[flat.key[a]] < rank[flat.key[b]];
  });
  FlatView out;
  for (const std::uint32_t row : order) out.add_row(flat, row);
  return out;
}

Result<void> write_changes(Views& views, const TableAnswerRequest& request, const PreparedView& view,
                           Judged judged, TableAnswer& out, const StopToken& stop) {
  PROFD_TRY(out.sides, side_totals(views, *request.open, request.spec, view, stop));
  if (!out.sides) return {};
  out.sides->verdict = std::move(judged.verdict);
  out.sides->shifts = std::move(judged.shifts);
  out.sides->n_shifts = judged.n_shifts;
  const std::vector<Key> keys(out.rows.key.begin(), out.rows.key.end());
  if (request.spec.shape == Shape::flat) {
    PROFD_TRY(out.changes,
              changes_of_keys(views, *request.open, request.spec, view, keys, judged.noise.get(), stop));
  } else {
    PROFD_TRY(const std::vector<Key> path, to_keys(request.expand, *view.selection));
    PROFD_TRY(out.changes, changes_of_level(views, *request.open, request.spec, view, path, keys, stop));
  }
  return {};
}

}  // namespace

Needs needs_of(const TableAnswerRequest& request) {
  Needs needs = needs_of_shape(request.spec);
  for (const std::string& name : request.metrics)
    add_needs_of_metric(*request.open, request.spec, name, needs);
  if (!request.sort_metric.empty())
    add_needs_of_metric(*request.open, request.spec, request.sort_metric, needs);
  return needs;
}

Result<TableAnswer> table_answer(Views& views, const TableAnswerRequest& request, const StopToken& stop) {
  if (!request.file.empty() && request.spec.shape != Shape::flat)
    return fail(ErrorCode::invalid,
                "rows of one file are listed of a flat view; others have paths through files");
  if (request.by_change && request.spec.shape != Shape::flat)
    return fail(ErrorCode::invalid,
                "rows are ordered by change in flat views; levels of trees have the largest first");
  if (!request.sort_metric.empty() && request.spec.shape != Shape::flat)
    return fail(ErrorCode::invalid,
                "rows are sorted by another metric in flat views; levels of trees have the largest first");
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, request.spec, stop));
  PROFD_TRY(const auto sources, sources_in(views, *request.open, request.workspace, stop));
  TableAnswer out;
  out.head = head_of(*request.open, request.spec, view);
  out.offset = request.offset;
  RowWriter writer(view, sources.get(), out);
  Judged judged;
  if (request.spec.shape == Shape::flat) {
    PROFD_CHECK(write_flat(views, request, view, writer, judged, out, stop));
  } else {
    PROFD_CHECK(write_level(request, view, writer, out, stop));
  }
  writer.finish();
  PROFD_CHECK(write_changes(views, request, view, std::move(judged), out, stop));
  for (const std::string& name : request.metrics) {
    PROFD_TRY(MetricRows rows, other_metric(views, request, view, name, out.rows.key, stop));
    out.columns.push_back(std::move(rows));
  }
  return out;
}

}  // namespace profd
