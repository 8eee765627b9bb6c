#include "server/feature/match_answer.h"

#include "core/view/match_marks.h"
#include "server/feature/name_table.h"

namespace profd {

namespace {

MatchAnswer::Match to_match(const FoundMatch& found, const PreparedView& view, const NodeTable& nodes) {
  MatchAnswer::Match out;
  NodeTable::Writer numbers(nodes);
  out.node = numbers.node(NodeTable::kNoParent, 0);
  for (const Key key : found.path) {
    out.path.push_back(key);
    out.node = numbers.node(out.node, key);
  }
  std::vector<std::string> names, labels;
  std::vector<std::vector<std::uint32_t>> cuts;
  NameTable name(*view.selection);
  name.row_of(found.path.back());
  std::move(name).finish(names, labels, cuts);
  out.name = std::move(names.front());
  out.label = std::move(labels.front());
  out.self = amount_of(view.whole, found.self, (found.estimate & kSelfEstimated) != 0);
  out.total = amount_of(view.whole, found.total, (found.estimate & kTotalEstimated) != 0);
  out.wrapped = found.wrapped;
  return out;
}

}  // namespace

Needs needs_of(const MatchRequest& request) {
  return needs_of_shape(request.spec);
}

Result<MatchAnswer> match_answer(Views& views, const MatchRequest& request, const StopToken& stop) {
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, request.spec, stop));
  PROFD_TRY(const auto marks, views.match_marks(*request.open, request.spec, request.pattern, stop));
  MatchStep step;
  step.shape = request.spec.shape;
  step.focus = view.focus;
  step.back = request.back;
  step.order = request.order;
  PROFD_TRY(step.from, path_of(views, *request.open, request.spec, view, request.from, stop));
  PROFD_TRY(step.within, path_of(views, *request.open, request.spec, view, request.within, stop));
  PROFD_TRY(const auto found, step_to_match(*view.selection, *marks, step, stop));
  MatchAnswer out;
  out.head = head_of(*request.open, request.spec, view);
  if (!found) return out;
  PROFD_TRY(const auto nodes, views.nodes(*request.open, request.spec));
  out.match = to_match(*found, view, *nodes);
  return out;
}

}  // namespace profd
