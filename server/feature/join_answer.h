// What several tools measured of one program, side by side: by function or path, the main metric of each
// profile of a join, and how much of them matched.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "server/feature/path_rows.h"

namespace profd {

struct JoinRequest {
  OpenProfilePtr open;
  ViewSpec
      spec;  // its metric, "" none: shown in place of its profile's main one, and what rows are ordered by
  bool paths = false;  // by path in the shape of `spec`; else by function, file or module, however that says
  std::size_t limit = 100;
};

struct JoinInput {
  std::string name, metric;   // the metric as the join calls it
  Amount total;               // of what passes the filters
  std::size_t n_rows = 0;     // functions (files, modules) that it has
  std::size_t n_matched = 0;  // of those, how many another profile has, too
  Amount matched;             // what of `total` ends in those
};

struct JoinAnswer {
  std::vector<JoinInput> inputs;
  PathRows rows;                    // without `path_of` where rows are no paths
  std::vector<MetricRows> columns;  // by input, by row; nothing where it has no value
};
// Fails with `invalid` where the profile is no join.
Result<JoinAnswer> join_answer(Views& views, const JoinRequest& request, const StopToken& stop);

// By input of a join, the metric that stands for it.
std::vector<std::string> main_metrics(const Profile& join, const std::string& instead);

}  // namespace profd
