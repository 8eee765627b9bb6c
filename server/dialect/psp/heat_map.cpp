#include "server/dialect/psp/heat_map.h"

#include <utility>

#include "server/dialect/psp/convert.h"
#include "server/dialect/psp/convert_views.h"
#include "server/dialect/psp/view_head.h"

namespace profd {

psp::HeatMapResult to_psp(HeatMapAnswer answer) {
  psp::HeatMapResult out;
  write_head(std::move(answer.head), out);
  out.begin = profd::to_psp(Value{answer.begin});
  out.end = profd::to_psp(Value{answer.end});
  out.from = profd::to_psp(Value{answer.from});
  out.column = profd::to_psp(Value{answer.column});
  out.column_text = std::move(answer.column_text);
  out.columns = answer.columns;
  out.rows = answer.rows;
  out.row_text = std::move(answer.row_text);
  out.values.reserve(answer.values.size());
  for (const Value& value : answer.values) out.values.push_back(to_psp(value));
  out.text = std::move(answer.text);
  out.texts = std::move(answer.texts);
  out.full = to_psp(answer.full);
  out.full_text = std::move(answer.full_text);
  out.held = to_psp(answer.held);
  out.basis = std::move(answer.basis);
  return out;
}

void bind_heat_map(SessionContext& session, protocol::Binder& binder) {
  binder.request<psp::HeatMapRequest>([&session](const psp::HeatMapParams& params,
                                                 protocol::Reply<psp::HeatMapRequest> reply) {
    auto named = from_psp(params.spec, "params.spec");
    if (!named) return reply.error(named.error());
    session.decide_mine(named->spec.filters);
    const auto open = session.profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
    if (!open) return reply.error(open.error());
    HeatMapAsked request;
    request.open = *open;
    request.spec = std::move(named->spec);
    if (params.from) request.grid.from = params.from->as_int64();
    if (params.to) request.grid.to = params.to->as_int64();
    if (params.column) request.grid.column = params.column->as_int64();
    if (params.rows) request.grid.rows = *params.rows;
    request.grid.max_columns = params.columns;
    session.answer<psp::HeatMapRequest>(
        std::move(reply), std::move(request),
        [](Views& views, const HeatMapAsked& asked, const StopToken& stop) {
          return heat_map_answer(views, asked, stop).map([](HeatMapAnswer&& answer) {
            return to_psp(std::move(answer));
          });
        },
        params.panel_id.value_or(""));
  });
}

}  // namespace profd
