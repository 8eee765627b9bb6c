// What became of a metric over a sequence of snapshots, by the paths that have it: which grow, which were
// given back. Of an ordered aggregate; its inputs are in order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/compare/trend.h"
#include "server/feature/places.h"

namespace profd {

struct TrendRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;
  ViewSpec spec;  // metric, granularity and filters; the shape does not matter
  std::size_t limit = 20;
};

struct TrendRow {
  std::vector<std::string> path;  // names, root first
  std::vector<Key> keys;          // of the boxes of the path
  Place place;                    // the last frame, with the last value as self
  Trend trend;
  std::vector<double> series;        // by input
  std::string slope;                 // "+1.36 MiB a snapshot", "+23.1 KiB/s"
  std::string first, last, highest;  // values as shown
};

struct TrendAnswer {
  ViewHead head;
  std::string unit;                 // as in MetricInfo
  std::vector<std::string> inputs;  // names, in order
  bool by_time = false;             // slopes are by second; else by snapshot
  std::string verdict;              // a sentence
  // Those that rise by how fast, then what was given back by its highest value. Others are counted.
  std::vector<TrendRow> rows;
  std::size_t n_rising = 0, n_reclaimed = 0, n_steady = 0;  // paths of all kinds, also beyond `limit`
};
// Fails with `invalid` where the profile is no aggregate, or has fewer than kFewestSnapshots inputs.
Result<TrendAnswer> trend_answer(Views& views, const TrendRequest& request, const StopToken& stop);
Needs needs_of(const TrendRequest& request);

}  // namespace profd
