// NeighbourTable: the direct callers and callees of every function of a selection, from one sweep over the
// profile, so that a file full of lenses costs look-ups and not as many walks.
#pragma once

#include <cstdint>
#include <vector>

#include "core/view/hottest.h"

namespace profd {

struct NeighbourTable {
  // False for selections whose boxes are not contexts (hidden or collapsed frames) or whose sums were
  // clamped: ask neighbours_of() there.
  bool usable = false;
  std::vector<Value> total;                               // by Key: each stack once
  std::vector<std::uint32_t> first_caller, first_callee;  // by Key, one more than there are keys
  std::vector<Neighbour> caller, callee;                  // of one key together, heaviest first
  // Of the selection: what a source without stacks states goes before sums over its estimated tree.
  bool estimated = false;
  std::shared_ptr<const StatedView> stated;
  std::size_t memory() const {
    return total.size() * sizeof(Value) +
           (first_caller.size() + first_callee.size()) * sizeof(std::uint32_t) +
           (caller.size() + callee.size()) * sizeof(Neighbour);
  }
};

// A second or three for the largest profiles; 50 bytes a pair of functions that call one another.
Result<NeighbourTable> make_neighbour_table(const Selection& selection, StopToken stop);

// What neighbours_of() gives, of a table that is usable.
Neighbours neighbours_in(const NeighbourTable& table, Key key, std::size_t n);

}  // namespace profd
