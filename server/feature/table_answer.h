// A page of a view as clients get it: rows of a flat view, or one level of a tree, as columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/feature/changes.h"
#include "server/feature/metric_values.h"
#include "server/feature/rows_answer.h"

namespace profd {

struct TableAnswerRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;  // marks the rows whose source is there
  ViewSpec spec;                // any shape
  SortBy sort = SortBy::self;   // flat views; levels of trees have the heaviest first
  bool descending = true;
  std::size_t offset = 0, limit = 100;
  std::vector<std::int64_t> expand;  // keys of the row whose children are listed; none: the roots
  std::string search;                // RE2: only rows that match; "" all
  std::string file;  // only rows of this file, as the profile calls it; flat views only; "" all
  std::vector<std::string> metrics;  // further ones, stored or by formula
  // Of flat views: what `sort` is of, in place of the view's own; rows without a value come last either way.
  std::string sort_metric;
  // Of flat views of diffs, in place of `sort`.
  std::optional<ChangeOrder> by_change;
  bool changed_only = false;  // with `by_change`
};

struct TableAnswer : RowsAnswer {
  std::size_t n_rows = 0, offset = 0;  // rows on all pages; the first of this one
  std::vector<MetricRows> columns;
  std::optional<Remainder> remainder;  // the rows after this page: their self, in levels of trees their total
  // What is on no row: of a flat view the value of stacks that have no frame (empty, or hidden as a whole),
  // of a level of a tree the self of the row that is expanded. Rows of all pages and this add up to the
  // view's total, or that row's. Nothing where it is 0, or rows were searched.
  std::optional<Amount> own;
  // Of diffs: the view as a whole, and both sides of every row.
  std::optional<SideTotals> sides;
  std::optional<ChangeColumns> changes;
  std::optional<Remainder> unchanged;  // rows that `changed_only` leaves out, with what they hold after
};
Needs needs_of(const TableAnswerRequest& request);
Result<TableAnswer> table_answer(Views& views, const TableAnswerRequest& request, const StopToken& stop);

}  // namespace profd
