// view/flameGraph, view/hiddenMatches, view/match, view/hotPath and view/series: what begins at a box of a
// tree.
#include "server/dialect/psp/flame.h"

#include <fmt/format.h>

#include "server/dialect/psp/convert_views.h"
#include "server/dialect/psp/sets.h"

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
  else if (const auto* named = std::get_if<psp::BoxNames>(&*target))
    out.names = NamePath{named->names, named->hashed};
  else
    out.node = std::get<std::int64_t>(*target);
  return out;
}

// Names are good for every revision.
bool needs_revision(const std::optional<psp::ZoomTarget>& target) {
  return target && !std::holds_alternative<psp::BoxNames>(*target);
}

tl::expected<FlameRequest, protocol::ResponseError> layout_of(SessionContext& session,
                                                              psp::FlameGraphParams& params) {
  auto named = from_psp(params.spec, "params.spec");
  if (!named) return tl::unexpected(std::move(named).error());
  session.decide_mine(named->spec.filters);
  if (named->spec.shape == Shape::flat)
    return tl::unexpected(
        invalid_params("params.spec.shape", "a flat view has no flame graph; ask for view/table"));
  const auto found = session.profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
  if (!found) return tl::unexpected(found.error());
  const OpenProfilePtr& open = *found;
  if (needs_revision(params.zoom))
    if (auto error = outdated(*open, params.revision, "zoom")) return tl::unexpected(std::move(*error));
  FlameRequest request;
  request.open = open;
  request.workspace = session.workspace.snapshot();
  request.number_nodes = params.nodes;
  request.spec = std::move(named->spec);
  request.layout.viewport_px = params.viewport.width;
  request.layout.min_width_px = params.viewport.min_width;
  request.layout.max_boxes = params.viewport.max_boxes;
  request.layout.max_depth = params.viewport.max_depth.value_or(0);
  request.layout.order = sibling_order(params.order);
  request.zoom = box_target(params.zoom);
  if (params.color_metric) {
    request.color_metric = params.color_metric->empty() ? open->metric_info().name : *params.color_metric;
    if (auto wrong = no_metric(*open, request.color_metric, "params.colorMetric"))
      return tl::unexpected(std::move(*wrong));
  }
  for (std::size_t i = 0; i < params.metrics.size(); ++i)
    if (auto wrong = no_metric(*open, params.metrics[i], fmt::format("params.metrics[{}]", i)))
      return tl::unexpected(std::move(*wrong));
  request.metrics = std::move(params.metrics);
  if (params.color_spread) {
    auto statistic = statistic_named(params.color_spread->text(), "params.colorSpread");
    if (!statistic) return tl::unexpected(std::move(statistic.error()));
    request.color_spread = *statistic;
  }
  request.search = params.search.value_or("");
  request.details = params.details;
  request.highlights = named_sets(std::move(params.highlights));
  request.work = params.work;
  if (request.work || !request.highlights.empty()) request.sets = session.workspace.sets();
  return request;
}

// Both take the parameters of a layout: what is counted for one is of the boxes of the other.
template <class Request, class Answer>
void bind_layout(SessionContext& session, protocol::Binder& binder, Answer answer) {
  binder.request<Request>([&session, answer](psp::FlameGraphParams params, protocol::Reply<Request> reply) {
    auto layout = layout_of(session, params);
    if (!layout) return reply.error(layout.error());
    session.answer<Request>(
        std::move(reply), std::move(*layout),
        [answer](Views& views, FlameRequest& asked, const StopToken& stop) {
          return answer(views, std::move(asked), stop).map([](auto&& made) {
            return to_psp(std::forward<decltype(made)>(made));
          });
        },
        params.panel_id.value_or(""));
  });
}

}  // namespace

void bind_match(SessionContext& session, protocol::Binder& binder) {
  binder.request<psp::MatchRequest>([&session](psp::MatchParams params,
                                               protocol::Reply<psp::MatchRequest> reply) {
    auto named = from_psp(params.spec, "params.spec");
    if (!named) return reply.error(named.error());
    session.decide_mine(named->spec.filters);
    if (named->spec.shape == Shape::flat)
      return reply.error(invalid_params("params.spec.shape", "a flat view has no boxes; ask for view/table"));
    const auto open = session.profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
    if (!open) return reply.error(open.error());
    for (const auto& [target, field] : {std::pair(&params.from, "from"), std::pair(&params.within, "within")})
      if (needs_revision(*target))
        if (auto error = outdated(**open, params.revision, field)) return reply.error(*error);
    MatchRequest request;
    request.open = *open;
    request.spec = std::move(named->spec);
    request.pattern = std::move(params.pattern);
    request.from = box_target(params.from);
    request.within = box_target(params.within);
    request.back = params.direction == psp::MatchDirection::previous;
    request.order = sibling_order(params.order);
    session.answer<psp::MatchRequest>(
        std::move(reply), std::move(request),
        [](Views& views, const MatchRequest& asked, const StopToken& stop) {
          return match_answer(views, asked, stop).map([](MatchAnswer&& answer) {
            return to_psp(std::move(answer));
          });
        },
        params.panel_id.value_or(""));
  });
}

void bind_hot_path(SessionContext& session, protocol::Binder& binder) {
  binder.request<psp::HotPathRequest>([&session](psp::HotPathParams params,
                                                 protocol::Reply<psp::HotPathRequest> reply) {
    auto named = from_psp(params.spec, "params.spec");
    if (!named) return reply.error(named.error());
    session.decide_mine(named->spec.filters);
    if (named->spec.shape == Shape::flat)
      return reply.error(invalid_params("params.spec.shape", "a flat view has no paths; ask for view/table"));
    const auto open = session.profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
    if (!open) return reply.error(open.error());
    if (needs_revision(params.from))
      if (auto error = outdated(**open, params.revision, "from")) return reply.error(*error);
    HotPathAnswerRequest request;
    request.open = *open;
    request.workspace = session.workspace.snapshot();
    request.spec = std::move(named->spec);
    request.from = box_target(params.from);
    request.limit = params.limit;
    session.answer<psp::HotPathRequest>(
        std::move(reply), std::move(request),
        [](Views& views, const HotPathAnswerRequest& asked, const StopToken& stop) {
          return hot_path_answer(views, asked, stop).map([](HotPathAnswer&& answer) {
            return to_psp(std::move(answer));
          });
        },
        params.panel_id.value_or(""));
  });
}

void bind_series(SessionContext& session, protocol::Binder& binder) {
  binder.request<psp::SeriesRequest>([&session](psp::SeriesParams params,
                                                protocol::Reply<psp::SeriesRequest> reply) {
    auto named = from_psp(params.spec, "params.spec");
    if (!named) return reply.error(named.error());
    session.decide_mine(named->spec.filters);
    const auto open = session.profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
    if (!open) return reply.error(open.error());
    if (needs_revision(params.at))
      if (auto error = outdated(**open, params.revision, "at")) return reply.error(*error);
    SeriesRequest request;
    request.open = *open;
    request.spec = std::move(named->spec);
    request.at = box_target(params.at);
    request.totals = params.totals;
    request.points = params.points;
    request.bins = params.bins;
    session.answer<psp::SeriesRequest>(
        std::move(reply), std::move(request),
        [](Views& views, const SeriesRequest& asked, const StopToken& stop) {
          return series_answer(views, asked, stop).map([](SeriesAnswer&& answer) {
            return to_psp(std::move(answer));
          });
        },
        params.panel_id.value_or(""));
  });
}

void bind_flame_graph(SessionContext& session, protocol::Binder& binder) {
  bind_layout<psp::FlameGraphRequest>(session, binder,
                                      [](Views& views, FlameRequest request, const StopToken& stop) {
                                        return flame_answer(views, std::move(request), stop);
                                      });
  bind_layout<psp::HiddenMatchesRequest>(session, binder,
                                         [](Views& views, FlameRequest request, const StopToken& stop) {
                                           return hidden_matches(views, std::move(request), stop);
                                         });
}

}  // namespace profd
