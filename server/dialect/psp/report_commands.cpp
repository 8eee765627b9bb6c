// Commands that answer with what a page says, and show the page: in an editor without views there is nowhere
// else to put it.
#include <array>
#include <functional>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "server/dialect/psp/commands.h"
#include "server/dialect/psp/opening.h"
#include "server/dialect/psp/pages.h"
#include "server/engine/composed_origin.h"
#include "server/engine/find_open.h"
#include "server/engine/formula_metrics.h"
#include "server/engine/uri.h"
#include "server/feature/callers_answer.h"
#include "server/feature/escape.h"
#include "server/feature/places.h"
#include "server/feature/recorded_again.h"

namespace profd {
namespace {

using nlohmann::json;
using Reply = CommandReply;
using Params = CommandParams;

constexpr std::size_t kSummaryPlaces = 5, kHotspotPlaces = 50, kCallers = 50;

json to_json(const Place& place, const Whole& whole) {
  json row = {{"name", place.name},
              {"self", whole.text(place.self)},
              {"total", total_text(place, whole)},
              {"selfShare", whole.share_text(place.self)},
              {"totalShare", total_share(place, whole)}};
  if (!place.path.empty()) row["uri"] = uri_of_path(place.path);
  if (place.line != 0) row["line"] = place.line;
  return row;
}

// Makes the page and shows it, on the worker that answers; nothing where the client shows answers itself.
using ShowPage = std::function<Result<void>(Views& views, const StopToken& stop)>;
ShowPage shower(const SessionContext& session, PageRequest request) {
  return [show = page_shower(session, request), request = std::move(request)](
             Views& views, const StopToken& stop) -> Result<void> {
    if (!show) return {};
    PROFD_TRY(const ReportPage page, report_page(views, request, stop));
    show(page);
    return {};
  };
}

void answer_places(SessionContext& session, const Params& params, std::size_t limit, PageKind page,
                   Reply reply) {
  const OpenProfilePtr open = command_profile(session, command_argument(params, "profile", 0), reply);
  if (!open) return;
  PlacesRequest request;
  request.open = open;
  request.workspace = session.workspace.snapshot();
  request.spec.filters = session.workspace.filters(open->uri);
  request.limit = limit;
  session.run<psp::ExecuteCommandRequest>(
      true, std::move(reply), open->place(),
      [&views = session.engine.views(), request,
       show = shower(session, page_request(session, open, page, ""))](
          const StopToken& stop) -> Result<psp::Any> {
        PROFD_TRY(const Places found, hot_places(views, request, stop));
        PROFD_CHECK(show(views, stop));
        json rows = json::array();
        for (const Place& place : found.places) rows.push_back(to_json(place, found.whole));
        return psp::Any(json{{"profile", request.open->handle},
                             {"name", request.open->name},
                             {"metric", request.open->metric_info().name},
                             {"total", found.whole.text(found.whole.total)},
                             {"places", std::move(rows)}});
      });
}

// Answers with the page in a line, and shows it.
void answer_page(SessionContext& session, PageRequest request, Reply reply) {
  const std::string place = request.open->place();
  session.run<psp::ExecuteCommandRequest>(
      true, std::move(reply), place,
      [&views = session.engine.views(), show = page_shower(session, request),
       request = std::move(request)](const StopToken& stop) -> Result<psp::Any> {
        PROFD_TRY(const ReportPage found, report_page(views, request, stop));
        if (show) show(found);
        return psp::Any(json{{"profile", request.open->handle}, {"text", sanitize_text(found.line)}});
      });
}

void run_within(SessionContext& session, const Params& params, Reply reply) {
  const OpenProfilePtr open = command_profile(session, command_argument(params, "profile", 1), reply);
  if (!open) return;
  const std::string function = command_argument(params, "function", 0);
  if (function.empty()) return reply.error(invalid_params("params.arguments[0]", "expected a function"));
  answer_page(session, page_request(session, open, PageKind::within, function), std::move(reply));
}

void run_changes(SessionContext& session, const Params& params, Reply reply) {
  if (const OpenProfilePtr open = command_profile(session, command_argument(params, "profile", 0), reply))
    answer_page(session, page_request(session, open, PageKind::changes, ""), std::move(reply));
}

void compare_profiles(SessionContext& session, const OpenProfilePtr& before, const OpenProfilePtr& after,
                      OriginPtr before_origin, const std::optional<psp::ProgressToken>& token, Reply reply) {
  ComposeSpec spec;
  spec.kind = Composed::diff;
  const auto held = before_origin == before->origin ? before->loaded : nullptr;
  spec.parts.push_back({std::move(before_origin), member_of(*before), true, held});
  spec.parts.push_back({after->origin, member_of(*after), false, after->loaded});
  spec.derive = formulas_of(*after);
  auto origin = composed_origin(std::move(spec));
  if (!origin) return reply.error(to_psp(origin.error()));
  OpenRequest request;
  request.uri = (*origin)->uri();
  request.preferred_metric = after->metric_info().name;
  const std::string place = (*origin)->place();
  const auto shared = std::make_shared<Reply>(std::move(reply));
  session.opening.open(
      std::move(request), std::move(*origin), token,
      [shared](std::function<void()> cancel) { shared->on_cancel(std::move(cancel)); },
      [&session, alive = session.alive, shared, place](Result<OpenAnswer> opened) {
        if (!opened) return shared->error(to_psp(opened.error(), place));
        if (!*alive || session.closed) return;
        answer_page(session, page_request(session, opened->profile, PageKind::changes, ""),
                    std::move(*shared));
      });
}

// With another open profile, or with what this one was before it was recorded again.
void run_compare(SessionContext& session, const Params& params, Reply reply) {
  const OpenProfilePtr after = command_profile(session, command_argument(params, "profile", 1), reply);
  if (!after) return;
  const std::string with = command_argument(params, "with", 0);
  if (with.empty()) {
    auto previous = session.engine.previous(after->handle);
    if (!previous)
      return reply.error(psp::ErrorCodes::request_failed,
                         sanitize_text(after->name) +
                             ": no recording before this one is kept; name an open profile to compare with");
    return compare_profiles(session, after, after, std::move(*previous), params.work_done_token,
                            std::move(reply));
  }
  struct Found {
    Result<std::string> handle;
    Reply reply;
  };
  const auto found = std::make_shared<Found>(
      Found{fail(ErrorCode::internal, "the profile could not be looked for"), std::move(reply)});
  session.aside(
      Lane::interactive, "profd.compare",
      [found, listing = session.engine.listing(session.client), after, with] {
        found->handle = find_open(listing.rows(), after, with);
      },
      [&session, found, after, token = params.work_done_token] {
        if (!found->handle) return found->reply.error(to_psp(found->handle.error()));
        const OpenProfilePtr before = command_profile(session, *found->handle, found->reply);
        if (before) compare_profiles(session, before, after, before->origin, token, std::move(found->reply));
      });
}

void run_hotspots(SessionContext& session, const Params& params, Reply reply) {
  answer_places(session, params, kHotspotPlaces, PageKind::hotspots, std::move(reply));
}
void run_summary(SessionContext& session, const Params& params, Reply reply) {
  answer_places(session, params, kSummaryPlaces, PageKind::summary, std::move(reply));
}

constexpr std::array<ServerCommand, 6> kReportCommands{{
    {"profd.hotspots", &run_hotspots},
    {"profd.summary", &run_summary},
    {"profd.callers", &run_callers},
    {"profd.within", &run_within},
    {"profd.changes", &run_changes},
    {"profd.compare", &run_compare},
}};

}  // namespace

std::span<const ServerCommand> report_commands() {
  return kReportCommands;
}

void run_callers(SessionContext& session, const CommandParams& params, CommandReply reply) {
  const OpenProfilePtr open = command_profile(session, command_argument(params, "profile", 1), reply);
  if (!open) return;
  const std::string function = command_argument(params, "function", 0);
  if (function.empty()) return reply.error(invalid_params("params.arguments[0]", "expected a function"));
  session.run<psp::ExecuteCommandRequest>(
      true, std::move(reply), open->place(),
      [&views = session.engine.views(), open, function, filters = session.workspace.filters(open->uri),
       show = shower(session, page_request(session, open, PageKind::callers, function))](
          const StopToken& stop) -> Result<psp::Any> {
        PROFD_TRY(const CallersAnswer found, callers_answer(views, *open, function, filters, kCallers, stop));
        PROFD_CHECK(show(views, stop));
        json rows = json::array();
        for (const Caller& caller : found.callers)
          rows.push_back({{"name", caller.name},
                          {"total", found.whole.text(caller.total)},
                          {"share", format_share(caller.total, found.total)}});
        return psp::Any(json{{"function", function}, {"callers", std::move(rows)}});
      });
}

}  // namespace profd
