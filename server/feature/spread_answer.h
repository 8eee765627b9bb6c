// How the values of many runs, ranks or processes lie: by function, over the inputs of an aggregate.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/spread.h"
#include "server/feature/rows_answer.h"

namespace profd {

enum class SpreadOrder : std::uint8_t { sum, lost, max, deviation, imbalance };

struct SpreadRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;
  ViewSpec spec;        // metric, granularity and filters
  bool totals = false;  // of totals, in place of selfs
  SpreadOrder order = SpreadOrder::sum;
  std::string search;  // RE2: rows whose names match; "" all
  std::size_t offset = 0, limit = 100;
  // Values of a series at most: of more inputs each group of neighbours has its largest.
  std::size_t points = std::numeric_limits<std::size_t>::max();
};

// By row of the answer.
struct SpreadColumns {
  std::vector<Spread> spread;
  std::vector<double> median;
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
};
// Fails with `invalid` where the profile is no aggregate.
Result<SpreadAnswer> spread_answer(Views& views, const SpreadRequest& request, const StopToken& stop);
Needs needs_of(const SpreadRequest& request);

}  // namespace profd
