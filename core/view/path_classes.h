// PathClasses: contexts with one path of box keys, which are one box top-down, as one class. What is a
// function of several values of a box (max, a difference) is not the sum of that function over its contexts,
// and is evaluated by class.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/support/big_vector.h"
#include "core/support/growing_vector.h"
#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/view/boxes.h"

namespace profd {

struct PathClasses {
  BigVector<std::uint32_t> of_context;
  GrowingVector<std::uint32_t> first;  // by class: its first context. Ascending
  GrowingVector<std::uint32_t> parent,
      key;  // by class: the class above, which has a smaller number, and its box

  [[nodiscard]] std::size_t size() const { return first.size(); }
};

// The root and what has no box of its own above it are class 0.
Result<PathClasses> classes_of(const Boxes& boxes, StopToken stop);
// Where every context is a box of its own.
Result<PathClasses> classes_of(const ContextTree& tree, const KeyTable& keys, StopToken stop);

}  // namespace profd
