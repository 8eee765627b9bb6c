#include "server/dialect/psp/opening.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/support/base_name.h"
#include "server/dialect/psp/addresses.h"
#include "server/dialect/psp/session_context.h"
#include "server/engine/endpoint_origin.h"
#include "server/engine/origins.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"

namespace profd {
namespace {

std::string name_of(const psp::ProgressToken& token) {
  const auto* text = std::get_if<std::string>(&token);
  return text != nullptr ? "text " + *text : fmt::format("number {}", std::get<std::int32_t>(token));
}

// Also in words where it is a program that records.
Engine::ProgressFn in_words(std::shared_ptr<Progress> progress, const Endpoint& endpoint) {
  return [weak = std::weak_ptr<Progress>(std::move(progress)), endpoint](std::uint64_t done,
                                                                         std::uint64_t total) {
    const auto alive = weak.lock();
    if (!alive) return;
    const std::string words = recording_text(endpoint, done, total);
    if (words.empty())
      alive->report(done, total);
    else
      alive->report(done, total, words);
  };
}

}  // namespace

std::string path_or_uri(const std::string& uri) {
  const auto path = path_of_uri(uri);
  return path ? *path : uri;
}

Engine::ProgressFn Opening::report_to(const std::optional<psp::ProgressToken>& token,
                                      const std::string& title, std::shared_ptr<Progress>& progress,
                                      std::string& name) {
  if (!token && !(session_.can.progress && session_.running)) return {};
  const psp::ProgressToken used = token ? *token : psp::ProgressToken(fmt::format("profd-{}", next_token_++));
  name = name_of(used);
  const bool create = !token;
  auto send = [weak = std::weak_ptr<protocol::Peer>(session_.peer), used,
               create](const Progress::Event& event) {
    const auto peer = weak.lock();
    if (!peer) return;
    nlohmann::json value;
    switch (event.kind) {
      case Progress::Event::Kind::begin:
        if (create)
          peer->call<psp::WorkDoneProgressCreateRequest>(psp::WorkDoneProgressCreateParams{used},
                                                         [](const auto&) {});
        value = {{"kind", "begin"}, {"title", event.text}, {"cancellable", true}};
        break;
      case Progress::Event::Kind::report:
        value = {{"kind", "report"}};
        if (!event.text.empty()) value["message"] = event.text;
        break;
      case Progress::Event::Kind::end:
        value = {{"kind", "end"}};
        if (!event.text.empty()) value["message"] = event.text;
        break;
    }
    if (event.percentage && event.kind != Progress::Event::Kind::end) value["percentage"] = *event.percentage;
    peer->notify<psp::ProgressNotification>({used, psp::Any(std::move(value))});
  };
  const auto quiet = std::chrono::milliseconds(token ? 0 : 300);
  progress = std::make_shared<Progress>(title, std::move(send), quiet);
  return [weak = std::weak_ptr<Progress>(progress)](std::uint64_t done, std::uint64_t total) {
    if (const auto alive = weak.lock()) alive->report(done, total);
  };
}

void Opening::open(OpenRequest request, OriginPtr origin, const std::optional<psp::ProgressToken>& token,
                   const std::function<void(std::function<void()>)>& on_cancel, Engine::Opened opened) {
  if (!origin && scheme_of(request.uri) != "file" && !request.uri.starts_with('/')) {
    auto named = origin_for(session_, request.uri, request.options);
    if (!named) return opened(tl::unexpected<Error>(std::move(named).error()));
    origin = std::move(*named);
  }
  if (session_.workspace.symbols())
    request.symbols = std::make_shared<const SymbolPlaces>(
        session_.workspace.symbol_places(origin ? origin->place() : path_of_uri(request.uri).value_or("")));
  request.scripts = session_.workspace.script_roots();
  std::shared_ptr<Progress> progress;
  const std::string what = origin ? origin->name() : std::string(base_name(path_or_uri(request.uri)));
  const auto endpoint = origin ? parse_endpoint(origin->uri()) : fail(ErrorCode::invalid, "a file");
  const bool records = endpoint && endpoint->recorded;
  const std::string doing =
      records ? fmt::format("Recording {} s of ", endpoint->recorded->count()) : "Reading ";
  std::string token_name;
  auto report = report_to(token, doing + sanitize_text(what), progress, token_name);
  if (report && records) report = in_words(progress, *endpoint);
  Engine::Opened done = [this, alive = session_.alive, progress, token_name,
                         opened = std::move(opened)](Result<OpenAnswer> answer) mutable {
    if (progress) progress->end(answer ? "" : "failed");
    if (*alive) tickets_.erase(token_name);
    const OpenProfilePtr open = answer ? answer->profile : nullptr;
    opened(std::move(answer));
    if (!*alive) return;
    session_.prepare(open);
    session_.meant_changed();
  };
  const std::uint64_t ticket =
      origin ? session_.engine.open(session_.client, std::move(origin), std::move(request), std::move(report),
                                    std::move(done))
             : session_.engine.open(session_.client, std::move(request), std::move(report), std::move(done));
  // With 0 threads it is over already, and then there is nothing to cancel.
  if (!token_name.empty() && session_.engine.is_opening(ticket)) tickets_[token_name] = ticket;
  on_cancel([&engine = session_.engine, ticket, alive = session_.alive] {
    engine.post([&engine, ticket, alive] {
      if (*alive) engine.cancel_open(ticket);
    });
  });
}

void Opening::cancel(const psp::ProgressToken& token) {
  const auto found = tickets_.find(name_of(token));
  if (found == tickets_.end()) return;
  const std::uint64_t ticket = found->second;
  tickets_.erase(found);
  session_.engine.cancel_open(ticket);
}

}  // namespace profd
