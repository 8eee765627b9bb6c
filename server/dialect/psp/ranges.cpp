#include "server/dialect/psp/ranges.h"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "server/dialect/psp/annotate_request.h"
#include "server/dialect/psp/convert_ranges.h"
#include "server/dialect/psp/convert_views.h"
#include "server/engine/uri.h"
#include "server/feature/functions_at.h"
#include "server/feature/source_lines.h"

namespace profd {
namespace {

// The profile and view of a request, whose spec may be left out.
template <class Request, class Params>
tl::expected<Request, protocol::ResponseError> view_request(SessionContext& session, const Params& params) {
  auto named = from_psp(params.spec.value_or(psp::ViewSpecLike(std::string("flat"))), "params.spec");
  if (!named) return tl::unexpected(named.error());
  session.decide_mine(named->spec.filters);
  const auto open = session.profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
  if (!open) return tl::unexpected(open.error());
  Request request;
  request.open = *open;
  request.workspace = session.workspace.snapshot();
  request.spec = std::move(named->spec);
  if (params.workspace_filters) {
    const std::vector<Filter> filters = session.workspace.filters((*open)->uri);
    request.spec.filters.insert(request.spec.filters.begin(), filters.begin(), filters.end());
  }
  request.by = from_psp(params.by);
  return request;
}

// What is asked about a place in a source file.
struct AskedAt {
  AnnotateRequest file;
  std::uint32_t line = 0;  // of the document, from 0
};

// The function that costs most on the line: its key by function.
Result<std::int64_t> function_at(Views& views, const AskedAt& place, const StopToken& stop) {
  PROFD_TRY(const FunctionsAt found, functions_at(views, place.file, place.line, stop));
  if (found.places.empty()) return fail(ErrorCode::not_found, found.text);
  return static_cast<std::int64_t>(found.places.front().key);
}

void answer_ranges(SessionContext& session, psp::RangesParams params,
                   protocol::Reply<psp::RangesRequest> reply) {
  auto request = view_request<RangesRequest>(session, params);
  if (!request) return reply.error(request.error());
  const OpenProfilePtr open = request->open;
  for (std::size_t i = 0; i < params.metrics.size(); ++i)
    if (auto wrong = no_metric(*open, params.metrics[i], fmt::format("params.metrics[{}]", i)))
      return reply.error(*wrong);
  request->by_self = params.by_self;
  request->metrics = std::move(params.metrics);
  request->offset = params.offset;
  request->limit = params.limit;
  std::optional<AskedAt> place;
  if (params.function) {
    request->function = std::move(*params.function);
  } else if (params.key) {
    if (auto error = outdated(*open, params.revision, "key")) return reply.error(*error);
    request->key = params.key;
  } else if (params.text_document) {
    if (!params.position) return reply.error(invalid_params("params.position", "needed with a textDocument"));
    auto file = annotate_request(session, open, params.text_document->uri);
    if (!file) return reply.error(file.error());
    file->filters = request->spec.filters;
    place = AskedAt{std::move(*file), params.position->line};
  }
  session.run<psp::RangesRequest>(
      session.engine.views().has(*open, needs_of(*request)) && (!place || Views::is_small(*open)),
      std::move(reply), open->place(),
      [&views = session.engine.views(), request = std::move(*request), place = std::move(place),
       with_source = params.source, folders = session.workspace.walked_roots()](
          const StopToken& stop) mutable -> Result<psp::RangesResult> {
        if (place) {
          PROFD_TRY(request.key, function_at(views, *place, stop));
          request.spec.granularity = Granularity::function;
        }
        SourceLines lines(folders, stop);
        SourceOfLine source;
        if (with_source)
          source = [&](const std::string& path, std::uint32_t line) { return lines.line(path, line); };
        return ranges_answer(views, request, source, stop).map([](RangesAnswer&& answer) {
          return to_psp(std::move(answer));
        });
      },
      params.panel_id.value_or(""));
}

}  // namespace

void bind_ranges(SessionContext& session, protocol::Binder& binder) {
  binder.request<psp::RangesRequest>(
      [&session](psp::RangesParams params, protocol::Reply<psp::RangesRequest> reply) {
        answer_ranges(session, std::move(params), std::move(reply));
      });
  binder.request<psp::ReportRequest>(
      [&session](const psp::ReportParams& params, protocol::Reply<psp::ReportRequest> reply) {
        auto request = view_request<ReportRequest>(session, params);
        if (!request) return reply.error(request.error());
        request->function = params.function.value_or("");
        request->ranges = params.ranges;
        request->sections = from_psp(params.sections);
        request->min_share = params.min_share;
        request->limit = params.limit;
        request->range_limit = params.range_limit;
        session.answer<psp::ReportRequest>(
            std::move(reply), std::move(*request),
            [](Views& views, const ReportRequest& asked, const StopToken& stop) {
              return report_answer(views, asked, stop).map([](ReportAnswer&& answer) {
                return to_psp(std::move(answer));
              });
            },
            params.panel_id.value_or(""));
      });
}

}  // namespace profd
