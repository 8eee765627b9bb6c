// First glances: the heaviest paths of a selection, and who calls a function most and whom it calls most.
#pragma once

#include <cstdint>
#include <vector>

#include "core/view/selection.h"

namespace profd {

// Where stacks end with the most weight: a path of keys from the root and the value of stacks that end there.
struct HeaviestPath {
  std::vector<Key> path;
  Value self;
  bool estimated = false;
};
struct HeaviestPaths {
  std::vector<HeaviestPath> paths;  // heaviest first; no two have the same keys
  // False when the search gave up after many boxes, which happens in very flat profiles: then these are the
  // heaviest of what it saw.
  bool exact = true;
};
Result<HeaviestPaths> heaviest_paths(const Selection& selection, std::size_t n, StopToken stop);

// Direct callers and callees of a key, heaviest first.
struct Neighbour {
  Key key;
  Value total;
};
struct Neighbours {
  Value total;                 // of the key: each stack once
  Value no_caller, no_callee;  // of stacks that start at it, that end at it
  std::vector<Neighbour> callers, callees;
  std::size_t n_callers = 0, n_callees = 0;  // in all; what calls of unknown cost lead to is counted alone
  // Of a source without stacks: the numbers are not its own but sums over the estimated tree.
  bool total_estimated = false, calls_estimated = false;
};
// For sources without stacks: what they state, in place of what the tree says.
void take_stated(const StatedView* stated, bool estimated, Key key, std::size_t n, Neighbours& around);
// What take_stated() gives says everything, so that no tree is needed.
inline bool states_neighbours(const StatedView* stated, Key key) {
  return stated != nullptr && stated->has_calls && stated->known[key] != 0;
}

Result<Neighbours> neighbours_of(const Selection& selection, Key key, std::size_t n, StopToken stop);

}  // namespace profd
