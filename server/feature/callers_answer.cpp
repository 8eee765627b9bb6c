#include "server/feature/callers_answer.h"

namespace profd {

Result<CallersAnswer> callers_answer(Views& views, const OpenProfile& open, const std::string& function,
                                     const std::vector<Filter>& filters, std::size_t limit,
                                     const StopToken& stop) {
  ViewSpec spec;
  spec.shape = Shape::callers;
  spec.focus = {function};
  spec.filters = filters;
  PROFD_TRY(const PreparedView view, prepare_view(views, open, spec, stop));
  TreeRequest tree;
  tree.shape = spec.shape;
  tree.focus = view.focus;
  tree.limit = limit;
  PROFD_TRY(const TreeLevel level, tree_level(*view.selection, tree, stop));
  CallersAnswer out{view.whole, level.total, {}};
  for (std::size_t i = 0; i < level.key.size(); ++i)
    out.callers.push_back(
        {key_name(*open.profile, *view.selection->boxes->keys, level.key[i]), level.child_total[i]});
  return out;
}

}  // namespace profd
