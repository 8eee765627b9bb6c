// Which box of a view a request means.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/view/path_of_names.h"
#include "server/feature/view_answer.h"

namespace profd {

// A box by its keys, by its number of the `node` column of an earlier answer, or by names.
struct BoxTarget {
  std::vector<std::int64_t> path;
  std::optional<std::int64_t> node;
  std::optional<NamePath> names;
};
// The keys from below the root; `not_found` where the view has no such box any more. Names lead as far as the
// view has them.
Result<std::vector<Key>> path_of(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                 const PreparedView& view, const BoxTarget& target, const StopToken& stop);

}  // namespace profd
