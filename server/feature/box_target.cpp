#include "server/feature/box_target.h"

#include <utility>

#include <fmt/format.h>

namespace profd {

Result<std::vector<Key>> path_of(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                 const PreparedView& view, const BoxTarget& target, const StopToken& stop) {
  if (target.names) return path_of_names(*view.selection, spec.shape, view.focus, *target.names, stop);
  if (!target.node) return to_keys(target.path, *view.selection);
  PROFD_TRY(const auto nodes, views.nodes(open, spec));
  auto path = nodes->path_of(*target.node);
  if (!path)
    return fail(ErrorCode::not_found,
                fmt::format("node {} is not known any more; name the box by its path of keys", *target.node));
  return std::move(*path);
}

}  // namespace profd
