// Where most of a box goes, level by level, as clients get it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/view/hot_path.h"
#include "server/feature/box_target.h"
#include "server/feature/rows_answer.h"

namespace profd {

struct HotPathAnswerRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;  // marks the rows whose source is there
  ViewSpec spec;                // any shape but flat
  BoxTarget from;
  std::size_t limit = 100;  // levels
};

// A row a level, each a child of the one before.
struct HotPathAnswer : RowsAnswer {
  std::vector<std::int64_t> from;  // keys of the box that it begins at
  Amount from_total;               // of that box
  HotPathEnd end = HotPathEnd::leaf;
};
Needs needs_of(const HotPathAnswerRequest& request);
Result<HotPathAnswer> hot_path_answer(Views& views, const HotPathAnswerRequest& request,
                                      const StopToken& stop);

}  // namespace profd
