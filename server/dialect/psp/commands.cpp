// workspace/executeCommand: profd from an editor that has no profd plugin. Jumps go through
// window/showDocument.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/view/resolve.h"
#include "server/dialect/psp/psp_session.h"
#include "server/engine/find_open.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/places.h"

namespace profd {
namespace {

using nlohmann::json;
using protocol::ResponseError;

// Arguments are either one object or plain texts, in the order of `names`.
std::string argument(const psp::ExecuteCommandParams& params, const char* name, std::size_t position) {
  if (!params.arguments || params.arguments->empty()) return "";
  const json& first = *params.arguments->front();
  if (first.is_object()) {
    const auto found = first.find(name);
    return found != first.end() && found->is_string() ? found->get<std::string>() : "";
  }
  if (position >= params.arguments->size()) return "";
  const json& value = *(*params.arguments)[position];
  return value.is_string() ? value.get<std::string>() : "";
}

json to_json(const Place& place, const Whole& whole) {
  json row = {{"name", place.name},
              {"self", whole.text(place.self)},
              {"total", whole.text(place.total)},
              {"selfShare", whole.share_text(place.self)},
              {"totalShare", whole.share_text(place.total)}};
  if (!place.path.empty()) row["uri"] = uri_of_path(place.path);
  if (place.line != 0) row["line"] = place.line;
  return row;
}

}  // namespace

void PspSession::show_document(const std::string& path, std::uint32_t line) {
  if (!can_.show_document || !workspace_.inside(path)) return;
  psp::ShowDocumentParams params;
  params.uri = uri_of_path(path);
  params.take_focus = true;
  if (line > 0) params.selection = psp::Range{{line - 1, 0}, {line - 1, 0}};
  peer_->call<psp::ShowDocumentRequest>(params, [](const auto&) {});
}

void PspSession::bind_commands(protocol::Binder& binder) {
  using Reply = protocol::Reply<psp::ExecuteCommandRequest>;
  binder.request<psp::ExecuteCommandRequest>([this](const psp::ExecuteCommandParams& params, Reply reply) {
    const std::string& command = params.command;
    if (command == "profd.open") {
      OpenRequest request;
      request.uri = argument(params, "uri", 0);
      if (request.uri.empty())
        return reply.error(invalid_params("params.arguments[0]", "expected a file URI or path"));
      request.options.format = argument(params, "format", 1);
      request.member = argument(params, "profile", 2);
      request.metric = workspace_.metric().value_or("");
      const auto file = path_of_uri(request.uri);
      const auto shared = std::make_shared<Reply>(std::move(reply));
      return open_profile(
          std::move(request), params.work_done_token,
          [shared](std::function<void()> cancel) { shared->on_cancel(std::move(cancel)); },
          [shared, file = file.value_or("")](Result<OpenAnswer> answer) {
            if (!answer) return shared->error(to_psp(answer.error(), file));
            (*shared)(psp::Any(
                json{{"profile", answer->profile->handle}, {"revision", answer->profile->revision}}));
          });
    }
    const std::string named = argument(params, "profile", command == "profd.metric" ? 1 : 0);
    std::string handle = named;
    if (command == "profd.select" && !named.empty()) {
      auto found = find_open(engine_.list(), meant_profile(), named);
      if (!found) return reply.error(to_psp(found.error()));
      handle = std::move(*found);
    }
    const auto open = profile(handle);
    const bool known = command == "profd.close" || command == "profd.select" || command == "profd.metric" ||
                       command == "profd.reload" || command == "profd.hotspots" ||
                       command == "profd.summary" || command == "profd.callers" || command == "profd.goto";
    if (!known)
      return reply.error(
          invalid_params("params.command", fmt::format("no command {}", sanitize_text(command))));
    if (command != "profd.callers" && command != "profd.goto" && !open) return reply.error(open.error());
    const auto answer = [&](const Result<void>& done) {
      if (done) return reply(psp::Any());
      reply.error(to_psp(done.error()));
    };
    if (command == "profd.close") {
      if (own_default_ == (*open)->handle) own_default_.clear();
      return answer(engine_.close(client_, (*open)->handle));
    }
    if (command == "profd.select") {
      if (named.empty())
        return reply.error(
            invalid_params("params.arguments[0]", "expected a profile: its handle, name or number"));
      return answer(select_profile((*open)->handle));
    }
    if (command == "profd.reload") return answer(engine_.reload((*open)->handle));
    if (command == "profd.metric") {
      const std::string name = argument(params, "metric", 0);
      if (name.empty())
        return reply.error(invalid_params("params.arguments[0]", "expected the name of a metric"));
      return answer(engine_.set_metric((*open)->handle, name));
    }
    const std::string function = argument(params, "function", 0);
    const auto meant = command == "profd.callers" || command == "profd.goto"
                           ? profile(argument(params, "profile", 1))
                           : open;
    if (!meant) return reply.error(meant.error());
    if (command == "profd.summary" || command == "profd.hotspots") {
      PlacesRequest request;
      request.open = *meant;
      request.workspace = workspace_.snapshot();
      request.spec.filters = workspace_.filters();
      request.limit = command == "profd.summary" ? 5 : 50;
      return run<psp::ExecuteCommandRequest>(
          Lane::bulk, std::move(reply), (*meant)->file->path,
          [&views = engine_.views(), request](const StopToken& stop) -> Result<psp::Any> {
            PROFD_TRY(const Places found, hot_places(views, request, stop));
            json rows = json::array();
            for (const Place& place : found.places) rows.push_back(to_json(place, found.whole));
            return psp::Any(json{{"profile", request.open->handle},
                                 {"name", request.open->name},
                                 {"metric", request.open->metric_info().name},
                                 {"total", found.whole.text(found.whole.total)},
                                 {"places", std::move(rows)}});
          });
    }
    // profd.callers and profd.goto: the callers of a function as places, and a jump to it.
    if (function.empty()) return reply.error(invalid_params("params.arguments[0]", "expected a function"));
    const Profile& profile = *(*meant)->profile;
    const auto whole_name = function_shown_as(profile, function);
    if (!whole_name) return reply.error(to_psp(whole_name.error()));
    std::vector<std::pair<std::string, std::uint32_t>> places;
    for (std::uint32_t f = 0; f < profile.functions().size(); ++f) {
      if (profile.function_name(FunctionId{f}) != whole_name->value_or(function)) continue;
      const SourceTarget target =
          find_source(workspace_.snapshot(), profile.strings()[profile.functions().file[f]]);
      if (target.paths.size() == 1) places.emplace_back(target.paths[0], profile.functions().start_line[f]);
    }
    if (command == "profd.goto" && places.size() == 1) show_document(places[0].first, places[0].second);
    run<psp::ExecuteCommandRequest>(
        Lane::bulk, std::move(reply), (*meant)->file->path,
        [&views = engine_.views(), open = *meant, function,
         filters = workspace_.filters()](const StopToken& stop) -> Result<psp::Any> {
          ViewSpec spec;
          spec.filters = filters;
          PROFD_TRY(const SelectionPtr selection, views.selection(*open, spec, stop));
          PROFD_TRY(const Key key, resolve_key(*open->profile, *selection->keys, function));
          TreeRequest tree;
          tree.shape = Shape::callers;
          tree.focus = {key};
          tree.limit = 50;
          PROFD_TRY(const TreeLevel level, tree_level(*selection, tree, stop));
          const Whole whole{selection->total, open->metric_info().unit};
          json rows = json::array();
          for (std::size_t i = 0; i < level.key.size(); ++i)
            rows.push_back({{"name", key_name(*open->profile, *selection->keys, level.key[i])},
                            {"total", whole.text(level.child_total[i])},
                            {"share", format_share(level.child_total[i], level.total)}});
          return psp::Any(json{{"function", function}, {"callers", std::move(rows)}});
        });
  });
}

}  // namespace profd
