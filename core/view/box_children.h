// The boxes right below a box, found among the contexts below the one that starts it.
#pragma once

#include <cstdint>

#include "core/model/context_tree.h"
#include "core/support/column.h"
#include "core/support/stop.h"

namespace profd {

// Visits, ascending, the contexts that start a box whose caller is the box that `from` starts: what is hidden
// or folded into that box (see Selection::owner) is looked through. Where skip(context) holds, nothing at or
// below it is. False when stopped.
template <class Skip, class Visit>
[[nodiscard]] bool for_each_child_box(const ContextTree& tree, const Column<std::uint32_t>& owner,
                                      std::uint32_t from, StopToken& stop, Skip skip, Visit visit) {
  const std::uint32_t end = tree.subtree_end[from];
  for (std::uint32_t c = from + 1; c < end;) {
    if (stop.check()) return false;
    if (skip(c)) {
      c = tree.subtree_end[c];
      continue;
    }
    if (!owner.empty() && owner[c] != c) {  // its children are this box's
      ++c;
      continue;
    }
    const std::uint32_t child = c;
    c = tree.subtree_end[c];
    visit(child);
  }
  return true;
}

}  // namespace profd
