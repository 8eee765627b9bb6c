// What of a view an answer is made of. A feature says it of its requests; a lane is chosen by whether it is
// at hand, and of big profiles it is made ahead of time. The one list of both.
#pragma once

#include <cstdint>
#include <vector>

#include "core/view/spec.h"

namespace profd {

enum class Part : std::uint8_t {
  selection,
  layout,        // the boxes of a screen, in the spec's shape
  one_function,  // looking at one function: callers, callees; and bottom-up
  flat,
  lines,       // of every file
  neighbours,  // who calls a function and whom it calls
};

struct Need {
  Part part;
  ViewSpec spec;
};
using Needs = std::vector<Need>;

// Of a table of all that has a value, whatever the spec's shape.
Needs needs_of_table(const ViewSpec& spec);
// Of a tree, or a table where that is the spec's shape.
Needs needs_of_shape(const ViewSpec& spec);

}  // namespace profd
