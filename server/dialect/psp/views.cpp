// view/table, view/search, view/hotspots.
#include <algorithm>

#include <fmt/format.h>

#include "server/dialect/psp/convert_views.h"
#include "server/dialect/psp/psp_session.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

constexpr std::uint32_t kMaxRows = 1000;

SortBy from_psp(const psp::OpenEnum<psp::TableSort>& sort) {
  if (sort == psp::TableSort::name) return SortBy::name;
  return sort == psp::TableSort::total ? SortBy::total : SortBy::self;
}

}  // namespace

void PspSession::bind_views(protocol::Binder& binder) {
  bind_flame(binder);
  binder.request<psp::TableRequest>([this](psp::TableParams params,
                                           protocol::Reply<psp::TableRequest> reply) {
    auto named = from_psp(params.spec, "params.spec");
    if (!named) return reply.error(named.error());
    const auto open = profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
    if (!open) return reply.error(open.error());
    if (params.expand)
      if (auto error = outdated(**open, params.revision, "expand")) return reply.error(*error);
    for (std::size_t i = 0; i < params.metrics.size(); ++i)
      if (const auto id = metric(**open, params.metrics[i], fmt::format("params.metrics[{}]", i)); !id)
        return reply.error(id.error());
    if (!params.metrics.empty() && named->spec.shape != Shape::flat)
      return reply.error(invalid_params("params.metrics", "further metrics are listed for flat views only"));
    const bool quick = engine_.views().is_quick(**open, named->spec, Views::needs_of(named->spec.shape));
    TableAnswerRequest request;
    request.open = *open;
    request.workspace = workspace_.snapshot();
    request.spec = std::move(named->spec);
    request.sort = from_psp(params.sort);
    request.descending = params.descending;
    request.offset = params.offset;
    request.limit = std::min(params.limit, kMaxRows);
    request.expand = params.expand.value_or(psp::BoxPath{});
    request.search = params.search.value_or("");
    request.metrics = std::move(params.metrics);
    run<psp::TableRequest>(
        quick ? Lane::interactive : Lane::bulk, std::move(reply), (*open)->place(),
        [&views = engine_.views(), request = std::move(request)](const StopToken& stop) {
          return table_answer(views, request, stop).map([](TableAnswer&& answer) {
            return to_psp(std::move(answer));
          });
        },
        params.panel_id.value_or(""));
  });

  binder.request<psp::SearchRequest>(
      [this](const psp::SearchParams& params, protocol::Reply<psp::SearchRequest> reply) {
        auto named = from_psp(params.spec, "params.spec");
        if (!named) return reply.error(named.error());
        const auto open = profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
        if (!open) return reply.error(open.error());
        const bool quick = engine_.views().is_quick(**open, named->spec, Views::kSelection | Views::kFlat);
        SearchAnswerRequest request;
        request.open = *open;
        request.workspace = workspace_.snapshot();
        request.spec = std::move(named->spec);
        request.pattern = params.pattern;
        request.limit = std::min(params.limit, kMaxRows);
        run<psp::SearchRequest>(
            quick ? Lane::interactive : Lane::bulk, std::move(reply), (*open)->place(),
            [&views = engine_.views(), request = std::move(request)](const StopToken& stop) {
              return search_answer(views, request, stop).map([](SearchAnswer&& answer) {
                return to_psp(std::move(answer));
              });
            },
            params.panel_id.value_or(""));
      });

  binder.request<psp::HotspotsRequest>([this](const psp::HotspotsParams& params,
                                              protocol::Reply<psp::HotspotsRequest> reply) {
    const auto open = profile(params.profile);
    if (!open) return reply.error(open.error());
    const auto id = metric(**open, params.metric.value_or(""), "params.metric");
    if (!id) return reply.error(id.error());
    const auto granularity = from_psp(params.granularity, "params.granularity");
    if (!granularity) return reply.error(granularity.error());
    auto filters = from_psp(params.filters, "params.filters");
    if (!filters) return reply.error(filters.error());
    PlacesRequest request;
    request.open = *open;
    request.workspace = workspace_.snapshot();
    request.spec.granularity = *granularity;
    request.spec.filters = std::move(*filters);
    request.spec.metric = (*open)->profile->metrics()[id->v].name;
    request.sort = from_psp(params.sort);
    request.limit = std::min(params.limit, kMaxRows);
    request.only_with_source = params.only_with_source;
    if (params.text_document) {
      auto path = path_of_uri(params.text_document->uri);
      if (!path) return reply.error(invalid_params("params.textDocument.uri", path.error().message));
      request.only_in = std::move(*path);
    }
    const bool quick = engine_.views().is_quick(**open, request.spec, Views::kSelection | Views::kFlat);
    run<psp::HotspotsRequest>(
        quick ? Lane::interactive : Lane::bulk, std::move(reply), (*open)->place(),
        [&views = engine_.views(), request = std::move(request)](const StopToken& stop) {
          return hot_places(views, request, stop).map([](const Places& places) { return to_psp(places); });
        });
  });
}

}  // namespace profd
