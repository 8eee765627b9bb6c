#include "server/feature/callers_answer.h"

namespace profd {
namespace {

Result<CallersAnswer> calls_of_name(Views& views, const OpenProfile& open, const std::string& function,
                                    const std::vector<Filter>& filters, Shape shape, std::size_t limit,
                                    const StopToken& stop) {
  ViewSpec spec;
  spec.shape = shape;
  spec.focus = {function};
  spec.filters = filters;
  PROFD_TRY(const PreparedView view, prepare_view(views, open, spec, stop));
  return calls_of_key(open, view, view.focus.front(), shape, limit, stop);
}

}  // namespace

Result<CallersAnswer> callers_answer(Views& views, const OpenProfile& open, const std::string& function,
                                     const std::vector<Filter>& filters, std::size_t limit,
                                     const StopToken& stop) {
  return calls_of_name(views, open, function, filters, Shape::callers, limit, stop);
}

Result<CallersAnswer> callees_answer(Views& views, const OpenProfile& open, const std::string& function,
                                     const std::vector<Filter>& filters, std::size_t limit,
                                     const StopToken& stop) {
  return calls_of_name(views, open, function, filters, Shape::callees, limit, stop);
}

Result<CallersAnswer> calls_of_key(const OpenProfile& open, const PreparedView& view, Key key, Shape shape,
                                   std::size_t limit, const StopToken& stop) {
  TreeRequest tree;
  tree.shape = shape;
  tree.focus = {key};
  tree.limit = limit;
  PROFD_TRY(const TreeLevel level, tree_level(*view.selection, tree, stop));
  CallersAnswer out{view.whole, level.total, {}, level.self, 0, level.total_left_out};
  out.n_left = level.n_children - level.key.size();
  for (std::size_t i = 0; i < level.key.size(); ++i) {
    Caller caller;
    caller.name = key_name(*open.profile, *view.selection->boxes->keys, level.key[i]);
    caller.total = level.child_total[i];
    caller.key = level.key[i];
    caller.estimated = !level.child_estimate.empty() && (level.child_estimate[i] & kTotalEstimated) != 0;
    const KeyPlace place = key_place(*open.profile, *view.selection->boxes->keys, level.key[i]);
    caller.file = place.file;
    caller.line = place.line;
    out.callers.push_back(std::move(caller));
  }
  return out;
}

}  // namespace profd
