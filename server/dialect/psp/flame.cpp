// view/flameGraph and view/match.
#include "server/dialect/psp/flame.h"

#include "server/dialect/psp/convert_views.h"

namespace profd {
namespace {

SiblingOrder sibling_order(const psp::OpenEnum<psp::BoxOrder>& order) {
  return order == psp::BoxOrder::weight ? SiblingOrder::weight : SiblingOrder::name;
}

BoxTarget box_target(const std::optional<psp::ZoomTarget>& target) {
  BoxTarget out;
  if (!target) return out;
  if (const auto* path = std::get_if<std::vector<std::int64_t>>(&*target))
    out.path = *path;
  else
    out.node = std::get<std::int64_t>(*target);
  return out;
}

}  // namespace

void bind_match(SessionContext& session, protocol::Binder& binder) {
  binder.request<psp::MatchRequest>([&session](psp::MatchParams params,
                                               protocol::Reply<psp::MatchRequest> reply) {
    auto named = from_psp(params.spec, "params.spec");
    if (!named) return reply.error(named.error());
    if (named->spec.shape == Shape::flat)
      return reply.error(invalid_params("params.spec.shape", "a flat view has no boxes; ask for view/table"));
    const auto open = session.profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
    if (!open) return reply.error(open.error());
    for (const auto& [target, field] : {std::pair(&params.from, "from"), std::pair(&params.within, "within")})
      if (*target)
        if (auto error = outdated(**open, params.revision, field)) return reply.error(*error);
    MatchRequest request;
    request.open = *open;
    request.spec = std::move(named->spec);
    request.pattern = std::move(params.pattern);
    request.from = box_target(params.from);
    request.within = box_target(params.within);
    request.back = params.direction == psp::MatchDirection::previous;
    request.order = sibling_order(params.order);
    const bool quick =
        session.engine.views().is_quick(**open, request.spec, Views::needs_of(request.spec.shape));
    session.run<psp::MatchRequest>(
        quick, std::move(reply), (*open)->place(),
        [&views = session.engine.views(), request = std::move(request)](const StopToken& stop) {
          return match_answer(views, request, stop).map([](MatchAnswer&& answer) {
            return to_psp(std::move(answer));
          });
        },
        params.panel_id.value_or(""));
  });
}

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
    request.number_nodes = params.nodes;
    request.spec = std::move(named->spec);
    request.layout.viewport_px = params.viewport.width;
    request.layout.min_width_px = params.viewport.min_width;
    request.layout.max_boxes = params.viewport.max_boxes;
    request.layout.max_depth = params.viewport.max_depth.value_or(0);
    request.layout.order = sibling_order(params.order);
    request.zoom = box_target(params.zoom);
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
    request.details = params.details;
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
