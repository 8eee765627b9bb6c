#include "server/engine/need.h"

namespace profd {

Needs needs_of_table(const ViewSpec& spec) {
  return {{Part::selection, spec}, {Part::flat, spec}};
}

Needs needs_of_shape(const ViewSpec& spec) {
  switch (spec.shape) {
    case Shape::flat:
      return needs_of_table(spec);
    case Shape::top_down:
      return {{Part::selection, spec}};
    case Shape::bottom_up:
    case Shape::callers:
    case Shape::callees:
      return {{Part::one_function, spec}};
  }
  return {};
}

}  // namespace profd
