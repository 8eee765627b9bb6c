// What became of something between two profiles.
#pragma once

#include <cstdint>

#include "core/model/metric.h"

namespace profd {

enum class Change : std::uint8_t { same, more, less, added, deleted };

// Integers are compared as such: doubles would not tell large ones apart. There on neither side is the same.
inline Change change_of(bool was_there, const Value& before, bool is_there, const Value& after) {
  if (!was_there || !is_there)
    return was_there == is_there ? Change::same : is_there ? Change::added : Change::deleted;
  if (before.index() == after.index())
    return before == after ? Change::same : before < after ? Change::more : Change::less;
  const double x = as_double(before), y = as_double(after);
  return x == y ? Change::same : x < y ? Change::more : Change::less;
}

}  // namespace profd
