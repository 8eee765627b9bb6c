#include "server/feature/hot_path_answer.h"

#include <utility>

namespace profd {

Needs needs_of(const HotPathAnswerRequest& request) {
  return needs_of_shape(request.spec);
}

Result<HotPathAnswer> hot_path_answer(Views& views, const HotPathAnswerRequest& request,
                                      const StopToken& stop) {
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, request.spec, stop));
  PROFD_TRY(const auto sources, sources_in(views, *request.open, request.workspace, stop));
  HotPathRequest asked;
  asked.shape = request.spec.shape;
  asked.focus = view.focus;
  PROFD_TRY(asked.from, path_of(views, *request.open, request.spec, view, request.from, stop));
  asked.limit = request.limit;
  PROFD_TRY(const HotPath path, hot_path(*view.selection, asked, stop));
  HotPathAnswer out;
  out.head = head_of(*request.open, request.spec, view);
  out.from.assign(asked.from.begin(), asked.from.end());
  out.from_total = amount_of(view.whole, path.from_total, (path.from_estimate & kTotalEstimated) != 0);
  out.end = path.end;
  RowWriter writer(view, sources.get(), out);
  for (std::size_t i = 0; i < path.key.size(); ++i)
    writer.row(path.key[i], path.self[i], path.total[i], path.has_children[i] != 0, path.estimate[i]);
  writer.finish();
  return out;
}

}  // namespace profd
