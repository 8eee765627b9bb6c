// view/flameGraph.
#include "server/dialect/psp/flame.h"

#include "server/dialect/psp/convert_views.h"

namespace profd {

void bind_flame_graph(SessionContext& session, protocol::Binder& binder) {
  binder.request<psp::FlameGraphRequest>([&session](psp::FlameGraphParams params,
                                                    protocol::Reply<psp::FlameGraphRequest> reply) {
    auto named = from_psp(params.spec, "params.spec");
    if (!named) return reply.error(named.error());
    if (named->spec.shape == Shape::flat)
      return reply.error(
          invalid_params("params.spec.shape", "a flat view has no flame graph; ask for view/table"));
    const auto open = session.profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
    if (!open) return reply.error(open.error());
    if (params.zoom)
      if (auto error = outdated(**open, params.revision, "zoom")) return reply.error(*error);
    FlameRequest request;
    request.open = *open;
    request.workspace = session.workspace.snapshot();
    request.number_nodes = true;
    request.spec = std::move(named->spec);
    request.layout.viewport_px = params.viewport.width;
    request.layout.min_width_px = params.viewport.min_width;
    request.layout.max_boxes = params.viewport.max_boxes;
    request.layout.max_depth = params.viewport.max_depth.value_or(0);
    request.layout.order = params.order == psp::BoxOrder::weight ? SiblingOrder::weight : SiblingOrder::name;
    if (params.zoom) {
      if (const auto* path = std::get_if<std::vector<std::int64_t>>(&*params.zoom))
        request.zoom = *path;
      else
        request.node = std::get<std::int64_t>(*params.zoom);
    }
    bool quick = session.engine.views().is_quick(**open, request.spec, Views::needs_of(request.spec.shape));
    if (params.color_metric) {
      const auto id = find_metric(**open, *params.color_metric, "params.colorMetric");
      if (!id) return reply.error(id.error());
      request.color_metric = (*open)->profile->metrics()[id->v].name;
      ViewSpec colors = request.spec;
      colors.metric = request.color_metric;
      quick = quick && session.engine.views().is_quick(**open, colors, Views::needs_of(colors.shape));
    }
    request.search = params.search.value_or("");
    session.run<psp::FlameGraphRequest>(
        quick, std::move(reply), (*open)->place(),
        [&views = session.engine.views(), request = std::move(request)](const StopToken& stop) mutable {
          return flame_answer(views, std::move(request), stop).map([](FlameAnswer&& answer) {
            return to_psp(std::move(answer));
          });
        },
        params.panel_id.value_or(""));
  });
}

}  // namespace profd
