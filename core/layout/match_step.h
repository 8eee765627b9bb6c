// Steps from match to match of a search, in the order of the picture: a box before what is below it, siblings
// from left to right. However narrow a match is, it is reached; what holds none is never unfolded.
#pragma once

#include <optional>
#include <vector>

#include "core/layout/flame.h"

namespace profd {

struct MatchStep {
  Shape shape = Shape::top_down;
  std::vector<Key> focus;   // callers / callees: the fragment as keys
  std::vector<Key> from;    // the box to go on from; empty: the root
  std::vector<Key> within;  // only this box and what is below it; empty: all
  bool back = false;
  SiblingOrder order = SiblingOrder::name;
};

struct FoundMatch {
  std::vector<Key> path;  // from below the root
  Value self, total;
  Estimate estimate = kExact;  // of the two
  bool wrapped = false;        // the end was passed, and this is the first again, or the last
};

// Nothing where no box matches. From a box outside of `within` it starts at the beginning of that, or at its
// end. Fails with `not_found` where a path does not exist.
Result<std::optional<FoundMatch>> step_to_match(const Selection& selection, const MatchMarks& matches,
                                                const MatchStep& step, StopToken stop);

}  // namespace profd
