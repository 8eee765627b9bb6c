// How the values of many runs, ranks or processes lie: by function, over the inputs of an aggregate.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/statistic.h"
#include "server/feature/rows_answer.h"

namespace profd {

struct SpreadRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;
  ViewSpec spec;                   // metric, granularity and filters
  bool totals = false;             // of totals, in place of selfs
  Statistic order;                 // largest first; rows without that number last
  std::vector<Statistic> more;     // further columns
  std::vector<std::string> where;  // conditions that all rows hold, see statistic.h
  std::string search;              // RE2: rows whose names match; "" all
  std::size_t offset = 0, limit = 100;
  // Values of a series at most: of more inputs each group of neighbours has its largest.
  std::size_t points = std::numeric_limits<std::size_t>::max();
};

struct StatisticColumn {
  std::string statistic;                     // in its text form
  std::vector<std::optional<double>> value;  // nothing where there is no such number
  std::vector<std::string> text;             // "" likewise
};

// By row of the answer.
struct SpreadColumns {
  std::vector<Spread> spread;
  std::vector<double> median;
  std::vector<StatisticColumn> more;        // those that were asked for
  std::vector<std::vector<double>> series;  // by input, or thinned
  // As shown; "" where there is no such number.
  std::vector<std::string> mean_text, min_text, median_text, max_text, deviation_text, imbalance_text,
      lost_text;
};

struct SpreadAnswer : RowsAnswer {
  std::vector<std::string> inputs;  // names, in order
  SpreadColumns columns;
  std::string thinned;  // a sentence where a series has fewer values than there are inputs; else ""
  std::size_t n_rows = 0, offset = 0;
  std::size_t n_left_out = 0;  // rows that do not hold what `where` says
};
// Fails with `invalid` where the profile is no aggregate, and for a condition that is none.
Result<SpreadAnswer> spread_answer(Views& views, const SpreadRequest& request, const StopToken& stop);
Needs needs_of(const SpreadRequest& request);

}  // namespace profd
