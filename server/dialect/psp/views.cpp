// view/table, view/search, view/hotspots; the others are in files of their own.
#include <algorithm>

#include <fmt/format.h>

#include "server/dialect/psp/convert_correlate.h"
#include "server/dialect/psp/convert_states.h"
#include "server/dialect/psp/convert_views.h"
#include "server/dialect/psp/flame.h"
#include "server/dialect/psp/heat_map.h"
#include "server/dialect/psp/markers.h"
#include "server/dialect/psp/module.h"
#include "server/dialect/psp/ranges.h"
#include "server/dialect/psp/sets.h"
#include "server/dialect/psp/timeline.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

constexpr std::uint32_t kMaxRows = 1000;

SortBy sort_by(const psp::OpenEnum<psp::TableSort>& sort) {
  if (sort == psp::TableSort::name) return SortBy::name;
  return sort == psp::TableSort::total ? SortBy::total : SortBy::self;
}

std::optional<ChangeOrder> change_order(const psp::OpenEnum<psp::TableSort>& sort) {
  if (sort == psp::TableSort::change) return ChangeOrder::size;
  if (sort == psp::TableSort::worse) return ChangeOrder::worse;
  if (sort == psp::TableSort::better) return ChangeOrder::better;
  return std::nullopt;
}

class ViewsModule final : public Module {
 public:
  explicit ViewsModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder& binder) override;
  void announce(psp::ServerCapabilities&, psp::ProfdServerCapabilities& own) const override {
    own.shapes = {psp::ViewShape::top_down, psp::ViewShape::bottom_up, psp::ViewShape::flat,
                  psp::ViewShape::callers, psp::ViewShape::callees};
    own.granularities = {psp::Granularity::address, psp::Granularity::line, psp::Granularity::function,
                         psp::Granularity::file, psp::Granularity::module};
  }

 private:
  // A request of an open profile and a view of it.
  template <class Request, class Params>
  tl::expected<Request, protocol::ResponseError> of_spec(const Params& params);

  SessionContext& session_;
};

template <class Request, class Params>
tl::expected<Request, protocol::ResponseError> ViewsModule::of_spec(const Params& params) {
  auto named = from_psp(params.spec, "params.spec");
  if (!named) return tl::unexpected(named.error());
  session_.decide_mine(named->spec.filters);
  const auto open = session_.profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
  if (!open) return tl::unexpected(open.error());
  Request request;
  request.open = *open;
  request.workspace = session_.workspace.snapshot();
  request.spec = std::move(named->spec);
  return request;
}

void ViewsModule::bind(protocol::Binder& binder) {
  bind_flame_graph(session_, binder);
  bind_match(session_, binder);
  bind_hot_path(session_, binder);
  bind_series(session_, binder);
  bind_ranges(session_, binder);
  bind_timeline(session_, binder);
  bind_markers(session_, binder);
  bind_heat_map(session_, binder);
  bind_sets(session_, binder);
  binder.request<psp::TableRequest>([this](psp::TableParams params,
                                           protocol::Reply<psp::TableRequest> reply) {
    auto named = from_psp(params.spec, "params.spec");
    if (!named) return reply.error(named.error());
    session_.decide_mine(named->spec.filters);
    const auto open = session_.profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
    if (!open) return reply.error(open.error());
    if (params.expand)
      if (auto error = outdated(**open, params.revision, "expand")) return reply.error(*error);
    for (std::size_t i = 0; i < params.metrics.size(); ++i)
      if (auto wrong = no_metric(**open, params.metrics[i], fmt::format("params.metrics[{}]", i)))
        return reply.error(*wrong);
    if (params.sort_metric)
      if (auto wrong = no_metric(**open, *params.sort_metric, "params.sortMetric"))
        return reply.error(*wrong);
    TableAnswerRequest request;
    request.open = *open;
    request.workspace = session_.workspace.snapshot();
    request.spec = std::move(named->spec);
    request.sort = sort_by(params.sort);
    request.by_change = change_order(params.sort);
    request.changed_only = params.changed_only;
    request.descending = params.descending;
    request.offset = params.offset;
    request.limit = std::min(params.limit, kMaxRows);
    request.expand = params.expand.value_or(psp::BoxPath{});
    request.search = params.search.value_or("");
    request.file = params.file.value_or("");
    request.metrics = std::move(params.metrics);
    request.sort_metric = params.sort_metric.value_or("");
    session_.answer<psp::TableRequest>(
        std::move(reply), std::move(request),
        [](Views& views, const TableAnswerRequest& asked, const StopToken& stop) {
          return table_answer(views, asked, stop).map([](TableAnswer&& answer) {
            return to_psp(std::move(answer));
          });
        },
        params.panel_id.value_or(""));
  });

  binder.request<psp::SpreadRequest>(
      [this](psp::SpreadParams params, protocol::Reply<psp::SpreadRequest> reply) {
        auto asked = of_spec<SpreadRequest>(params);
        if (!asked) return reply.error(asked.error());
        asked->totals = params.totals;
        const auto order = statistic_named(params.sort.text(), "params.sort");
        if (!order) return reply.error(order.error());
        asked->order = *order;
        for (std::size_t i = 0; i < params.columns.size(); ++i) {
          const auto column = statistic_named(params.columns[i], fmt::format("params.columns[{}]", i));
          if (!column) return reply.error(column.error());
          asked->more.push_back(*column);
        }
        asked->where = std::move(params.where);
        asked->offset = params.offset;
        asked->limit = std::min(params.limit, kMaxRows);
        asked->points = params.points;
        asked->search = params.search.value_or("");
        session_.answer<psp::SpreadRequest>(
            std::move(reply), std::move(*asked),
            [](Views& views, const SpreadRequest& request, const StopToken& stop) {
              return spread_answer(views, request, stop).map([](SpreadAnswer&& answer) {
                return to_psp(std::move(answer));
              });
            },
            params.panel_id.value_or(""));
      });

  binder.request<psp::TrendRequest>(
      [this](psp::TrendParams params, protocol::Reply<psp::TrendRequest> reply) {
        auto asked = of_spec<TrendRequest>(params);
        if (!asked) return reply.error(asked.error());
        asked->limit = std::min(params.limit, kMaxRows);
        session_.answer<psp::TrendRequest>(
            std::move(reply), std::move(*asked),
            [](Views& views, const TrendRequest& request, const StopToken& stop) {
              return trend_answer(views, request, stop).map([](TrendAnswer&& answer) {
                return to_psp(std::move(answer));
              });
            },
            params.panel_id.value_or(""));
      });

  binder.request<psp::CorrelateRequest>(
      [this](psp::CorrelateParams params, protocol::Reply<psp::CorrelateRequest> reply) {
        auto asked = of_spec<CorrelateRequest>(params);
        if (!asked) return reply.error(asked.error());
        asked->table = params.table.value_or("");
        asked->left = params.left.value_or("");
        asked->right = params.right.value_or("");
        asked->limit = std::min(params.limit, kMaxRows);
        session_.answer<psp::CorrelateRequest>(
            std::move(reply), std::move(*asked),
            [](Views& views, const CorrelateRequest& request, const StopToken& stop) {
              return correlate_answer(views, request, stop).map([](CorrelateAnswer&& answer) {
                return to_psp(std::move(answer));
              });
            },
            params.panel_id.value_or(""));
      });

  binder.request<psp::StatesRequest>([this](const psp::StatesParams& params,
                                            protocol::Reply<psp::StatesRequest> reply) {
    auto named = from_psp(params.spec.value_or(psp::ViewSpecLike(std::string("top-down"))), "params.spec");
    if (!named) return reply.error(named.error());
    const auto open = session_.profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
    if (!open) return reply.error(open.error());
    StatesRequest asked;
    asked.open = *open;
    asked.spec = std::move(named->spec);
    asked.limit = std::min(params.limit, kMaxRows);
    session_.answer<psp::StatesRequest>(
        std::move(reply), std::move(asked),
        [](Views& views, const StatesRequest& request, const StopToken& stop) {
          return states_answer(views, request, stop).map([](StatesAnswer&& answer) {
            return to_psp(std::move(answer));
          });
        },
        params.panel_id.value_or(""));
  });

  binder.request<psp::SearchRequest>(
      [this](const psp::SearchParams& params, protocol::Reply<psp::SearchRequest> reply) {
        auto request = of_spec<SearchAnswerRequest>(params);
        if (!request) return reply.error(request.error());
        request->pattern = params.pattern;
        request->limit = std::min(params.limit, kMaxRows);
        session_.answer<psp::SearchRequest>(
            std::move(reply), std::move(*request),
            [](Views& views, const SearchAnswerRequest& asked, const StopToken& stop) {
              return search_answer(views, asked, stop).map([](SearchAnswer&& answer) {
                return to_psp(std::move(answer));
              });
            },
            params.panel_id.value_or(""));
      });

  binder.request<psp::HotspotsRequest>(
      [this](const psp::HotspotsParams& params, protocol::Reply<psp::HotspotsRequest> reply) {
        const auto open = session_.profile(params.profile);
        if (!open) return reply.error(open.error());
        const auto id = find_metric(**open, params.metric.value_or(""), "params.metric");
        if (!id) return reply.error(id.error());
        const auto granularity = from_psp(params.granularity, "params.granularity");
        if (!granularity) return reply.error(granularity.error());
        auto filters = from_psp(params.filters, "params.filters");
        if (!filters) return reply.error(filters.error());
        session_.decide_mine(*filters);
        PlacesRequest request;
        request.open = *open;
        request.workspace = session_.workspace.snapshot();
        request.spec.granularity = *granularity;
        if (params.workspace_filters) request.spec.filters = session_.workspace.filters((*open)->uri);
        std::vector<std::string> applied = texts_of(request.spec.filters);
        request.spec.filters.insert(request.spec.filters.end(), filters->begin(), filters->end());
        request.spec.metric = (*open)->profile->metrics()[id->v].name;
        request.sort = sort_by(params.sort);
        request.limit = std::min(params.limit, kMaxRows);
        request.only_with_source = params.only_with_source;
        if (params.text_document) {
          auto path = path_of_uri(params.text_document->uri);
          if (!path) return reply.error(invalid_params("params.textDocument.uri", path.error().message));
          request.only_in = std::move(*path);
        }
        session_.answer<psp::HotspotsRequest>(
            std::move(reply), std::move(request),
            [applied = std::move(applied)](Views& views, const PlacesRequest& asked, const StopToken& stop) {
              return hot_places(views, asked, stop).map([&](const Places& places) {
                psp::HotspotsResult result = to_psp(places);
                result.filters = applied;
                return result;
              });
            });
      });
}

}  // namespace

std::unique_ptr<Module> make_views_module(SessionContext& session) {
  return std::make_unique<ViewsModule>(session);
}

}  // namespace profd
