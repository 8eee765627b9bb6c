// Contexts that were numbered as they came, in the order of the model: depth-first, children by frame.
#pragma once

#include <cstdint>

#include "core/model/context_tree.h"
#include "core/support/big_vector.h"
#include "core/support/growing_vector.h"
#include "core/support/stop.h"

namespace profd {

struct Renumbered {
  ContextTree tree;
  BigVector<std::uint32_t> new_id;  // by arrival id
};

// By arrival id, row 0 the root, parents before their children; (parent, frame) once each. Nothing of use
// when stopped.
Renumbered to_preorder(GrowingVector<std::uint32_t> parent, GrowingVector<std::uint32_t> frame,
                       StopToken stop);

}  // namespace profd
