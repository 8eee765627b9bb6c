// workspace/executeCommand: what a plain editor can do without profd's methods. Commands that answer
// something also show it, as such an editor has nowhere to put what is only returned.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "core/view/code_place.h"
#include "core/view/resolve.h"
#include "server/dialect/psp/code_documents.h"
#include "server/dialect/psp/module.h"
#include "server/dialect/psp/opening.h"
#include "server/dialect/psp/web_page.h"
#include "server/engine/find_open.h"
#include "server/engine/uri.h"
#include "server/feature/callers_answer.h"
#include "server/feature/escape.h"
#include "server/feature/places.h"
#include "server/feature/report_page.h"
#include "server/platform/runtime_dir.h"

namespace profd {
namespace {

using nlohmann::json;
using Reply = protocol::Reply<psp::ExecuteCommandRequest>;
using Params = psp::ExecuteCommandParams;

constexpr std::size_t kSummaryPlaces = 5, kHotspotPlaces = 50, kCallers = 50;

// Arguments are either one object or plain texts, in the order of `names`.
std::string argument(const Params& params, const char* name, std::size_t position) {
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
              {"total", total_text(place, whole)},
              {"selfShare", whole.share_text(place.self)},
              {"totalShare", total_share(place, whole)}};
  if (!place.path.empty()) row["uri"] = uri_of_path(place.path);
  if (place.line != 0) row["line"] = place.line;
  return row;
}

class CommandsModule final : public Module {
 public:
  explicit CommandsModule(SessionContext& session) : session_(session) {}
  ~CommandsModule() override;
  void bind(protocol::Binder& binder) override;
  void announce(psp::ServerCapabilities& capabilities, psp::ProfdServerCapabilities&) const override;

 private:
  struct Command {
    std::string_view name;
    void (CommandsModule::*run)(const Params& params, Reply reply);
  };
  static const std::array<Command, 11> kCommands;

  void open(const Params& params, Reply reply);
  void close(const Params& params, Reply reply);
  void select(const Params& params, Reply reply);
  void metric(const Params& params, Reply reply);
  void reload(const Params& params, Reply reply);
  void hotspots(const Params& params, Reply reply) {
    places(params, kHotspotPlaces, "hotspots", std::move(reply));
  }
  void summary(const Params& params, Reply reply) {
    places(params, kSummaryPlaces, "summary", std::move(reply));
  }
  void callers(const Params& params, Reply reply);
  void assembly(const Params& params, Reply reply);
  void go_to(const Params& params, Reply reply);
  void open_in_browser(const Params& params, Reply reply);

  void places(const Params& params, std::size_t limit, const char* page, Reply reply);
  // The profile that an argument names, or nothing, after having answered why.
  OpenProfilePtr profile(const std::string& named, Reply& reply);
  void show_source(const std::string& path, std::uint32_t line);
  // A page in the editor where it can be shown a document, a message where not. `name` tells pages apart.
  static std::function<void(const ReportPage&)> shower(const SessionContext& session,
                                                       const std::string& name);

  SessionContext& session_;
};

// Where a page of a client is put to be shown; "" where there is no place for it. A person may have a daemon
// an editor, and each has a first client.
std::string page_path(std::string_view name, ClientId client, std::string_view extension = "md") {
  const auto folder = runtime_dir();
  return folder ? fmt::format("{}/{}-{}-{}.{}", *folder, name, ::getpid(), client, extension) : "";
}
constexpr std::string_view kAssemblyPage = "assembly", kAssemblyExtension = "s";

// The pages that were shown are the session's.
CommandsModule::~CommandsModule() {
  if (session_.can.native || !session_.can.show_document) return;
  for (const std::string_view name : {"hotspots", "summary", "callers"})
    if (const std::string path = page_path(name, session_.client); !path.empty()) std::remove(path.c_str());
  if (const std::string path = page_path(kAssemblyPage, session_.client, kAssemblyExtension); !path.empty())
    std::remove(path.c_str());
}

const std::array<CommandsModule::Command, 11> CommandsModule::kCommands{{
    {"profd.open", &CommandsModule::open},
    {"profd.close", &CommandsModule::close},
    {"profd.select", &CommandsModule::select},
    {"profd.metric", &CommandsModule::metric},
    {"profd.reload", &CommandsModule::reload},
    {"profd.hotspots", &CommandsModule::hotspots},
    {"profd.summary", &CommandsModule::summary},
    {"profd.callers", &CommandsModule::callers},
    {"profd.assembly", &CommandsModule::assembly},
    {"profd.goto", &CommandsModule::go_to},
    {"profd.openInBrowser", &CommandsModule::open_in_browser},
}};

void CommandsModule::announce(psp::ServerCapabilities& capabilities, psp::ProfdServerCapabilities&) const {
  psp::ExecuteCommandOptions options;
  for (const Command& command : kCommands) options.commands.emplace_back(command.name);
  capabilities.execute_command_provider = std::move(options);
}

void CommandsModule::bind(protocol::Binder& binder) {
  binder.request<psp::ExecuteCommandRequest>([this](const Params& params, Reply reply) {
    const auto found = std::find_if(kCommands.begin(), kCommands.end(),
                                    [&](const Command& command) { return command.name == params.command; });
    if (found == kCommands.end())
      return reply.error(
          invalid_params("params.command", fmt::format("no command {}", sanitize_text(params.command))));
    (this->*found->run)(params, std::move(reply));
  });
}

OpenProfilePtr CommandsModule::profile(const std::string& named, Reply& reply) {
  auto open = session_.profile(named);
  if (open) return *open;
  reply.error(open.error());
  return nullptr;
}

void answer(Reply& reply, const Result<void>& done) {
  if (done)
    reply(psp::Any());
  else
    reply.error(to_psp(done.error()));
}

void CommandsModule::open(const Params& params, Reply reply) {
  OpenRequest request;
  request.uri = argument(params, "uri", 0);
  if (request.uri.empty())
    return reply.error(invalid_params("params.arguments[0]", "expected a file URI or path"));
  request.options.format = argument(params, "format", 1);
  request.member = argument(params, "profile", 2);
  request.preferred_metric = session_.workspace.metric().value_or("");
  const std::string file = path_or_uri(request.uri);
  const auto shared = std::make_shared<Reply>(std::move(reply));
  session_.opening.open(
      std::move(request), nullptr, params.work_done_token,
      [shared](std::function<void()> cancel) { shared->on_cancel(std::move(cancel)); },
      [shared, file](Result<OpenAnswer> opened) {
        if (!opened) return shared->error(to_psp(opened.error(), file));
        (*shared)(
            psp::Any(json{{"profile", opened->profile->handle}, {"revision", opened->profile->revision}}));
      });
}

void CommandsModule::close(const Params& params, Reply reply) {
  const OpenProfilePtr open = profile(argument(params, "profile", 0), reply);
  if (!open) return;
  const auto closed = session_.engine.close(session_.client, open->handle);
  session_.meant_changed();
  answer(reply, closed);
}

void CommandsModule::select(const Params& params, Reply reply) {
  const std::string named = argument(params, "profile", 0);
  if (named.empty())
    return reply.error(
        invalid_params("params.arguments[0]", "expected a profile: its handle, name or number"));
  struct Found {
    Result<std::string> handle;
    Reply reply;
  };
  const auto found = std::make_shared<Found>(
      Found{fail(ErrorCode::internal, "the profile could not be looked for"), std::move(reply)});
  session_.aside(
      Lane::interactive, "profd.select",
      [found, listing = session_.engine.listing(session_.client), meant = session_.meant_profile(), named] {
        found->handle = find_open(listing.rows(), meant, named);
      },
      [this, found] {
        if (!found->handle) return found->reply.error(to_psp(found->handle.error()));
        answer(found->reply, session_.engine.choose(session_.client, *found->handle));
      });
}

void CommandsModule::metric(const Params& params, Reply reply) {
  const OpenProfilePtr open = profile(argument(params, "profile", 1), reply);
  if (!open) return;
  const std::string name = argument(params, "metric", 0);
  if (name.empty())
    return reply.error(invalid_params("params.arguments[0]", "expected the name of a metric"));
  answer(reply, session_.show_metric(open->handle, name));
}

void CommandsModule::reload(const Params& params, Reply reply) {
  if (const OpenProfilePtr open = profile(argument(params, "profile", 0), reply))
    answer(reply, session_.engine.reload(open->handle));
}

void CommandsModule::places(const Params& params, std::size_t limit, const char* page, Reply reply) {
  const OpenProfilePtr open = profile(argument(params, "profile", 0), reply);
  if (!open) return;
  PlacesRequest request;
  request.open = open;
  request.workspace = session_.workspace.snapshot();
  request.spec.filters = session_.workspace.filters(open->uri);
  request.limit = limit;
  session_.run<psp::ExecuteCommandRequest>(
      true, std::move(reply), open->place(),
      [&views = session_.engine.views(), request,
       show = shower(session_, page)](const StopToken& stop) -> Result<psp::Any> {
        PROFD_TRY(const Places found, hot_places(views, request, stop));
        if (show) show(places_page(*request.open, found));
        json rows = json::array();
        for (const Place& place : found.places) rows.push_back(to_json(place, found.whole));
        return psp::Any(json{{"profile", request.open->handle},
                             {"name", request.open->name},
                             {"metric", request.open->metric_info().name},
                             {"total", found.whole.text(found.whole.total)},
                             {"places", std::move(rows)}});
      });
}

void CommandsModule::callers(const Params& params, Reply reply) {
  const OpenProfilePtr open = profile(argument(params, "profile", 1), reply);
  if (!open) return;
  const std::string function = argument(params, "function", 0);
  if (function.empty()) return reply.error(invalid_params("params.arguments[0]", "expected a function"));
  session_.run<psp::ExecuteCommandRequest>(
      true, std::move(reply), open->place(),
      [&views = session_.engine.views(), open, function, filters = session_.workspace.filters(open->uri),
       show = shower(session_, "callers")](const StopToken& stop) -> Result<psp::Any> {
        PROFD_TRY(const CallersAnswer found, callers_answer(views, *open, function, filters, kCallers, stop));
        if (show) show(callers_page(*open, function, found));
        json rows = json::array();
        for (const Caller& caller : found.callers)
          rows.push_back({{"name", caller.name},
                          {"total", found.whole.text(caller.total)},
                          {"share", format_share(caller.total, found.total)}});
        return psp::Any(json{{"function", function}, {"callers", std::move(rows)}});
      });
}

// Code, in a document of its own, or in a file where the client takes no such documents.
void CommandsModule::assembly(const Params& params, Reply reply) {
  const OpenProfilePtr open = profile(argument(params, "profile", 1), reply);
  if (!open) return;
  const std::string named = argument(params, "function", 0);
  CodeDocumentRequest request = code_document_request(session_, open, true);
  if (const auto code = parse_code_place(named)) {
    request.code.place.module = code->module;
    request.code.place.address = code->address;
  } else {
    request.code.place.function = named;
  }
  const bool shows = session_.can.show_document && (!session_.can.native || session_.can.text_content);
  session_.run<psp::ExecuteCommandRequest>(
      true, std::move(reply), open->place(),
      [&views = session_.engine.views(), request = std::move(request), shows, native = session_.can.native,
       as_document = session_.can.text_content, peer = std::weak_ptr<protocol::Peer>(session_.peer),
       page = session_.code_page, path = page_path(kAssemblyPage, session_.client, kAssemblyExtension)](
          const StopToken& stop) -> Result<psp::Any> {
        PROFD_TRY(const DisassemblyAnswer answer, code_at(views, request.code, request.means, stop));
        if (answer.pieces.empty()) return fail(ErrorCode::not_found, answer.problem);
        const PieceRow& piece = answer.pieces[answer.piece];
        const std::string handle = request.code.open->handle;
        const std::string uri =
            code_uri(handle, code_of(piece),
                     request.code.place.function.empty() ? piece.name : request.code.place.function);
        const auto alive = peer.lock();
        psp::ShowDocumentParams shown;
        shown.take_focus = true;
        if (shows && !as_document) {
          CodeDocumentRequest of_page = request;
          of_page.function = request.code.place.function;
          of_page.code.place = {};
          of_page.code.place.module = piece.module;
          of_page.code.place.address = piece.start;
          PROFD_TRY(const auto document, code_document_at(views, of_page, stop));
          // Private to the user; the next code that is opened replaces it.
          if (!path.empty() && write_private_file(path, document->text())) shown.uri = uri_of_path(path);
          page->set(shown.uri, uri);
        } else if (shows) {
          shown.uri = uri;
        }
        if (alive && !shown.uri.empty()) {
          alive->call<psp::ShowDocumentRequest>(shown, [](const auto&) {});
        } else if (alive && !native) {
          alive->notify<psp::ShowMessageNotification>(
              {psp::MessageType::info, sanitize_text(piece.name) + ": " + code_lens_text(answer)});
        }
        return psp::Any(json{{"profile", handle}, {"uri", uri}, {"text", code_lens_text(answer)}});
      });
}

// Where a function is defined, by all the profile and the workspace say. On a worker.
Result<std::vector<std::pair<std::string, std::uint32_t>>> definitions(const Profile& profile,
                                                                       const std::string& function,
                                                                       const WorkspaceSnapshot& workspace) {
  PROFD_TRY(const auto whole_name, function_shown_as(profile, function));
  std::vector<std::pair<std::string, std::uint32_t>> found;
  for (const FunctionId f : functions_called(profile, whole_name.value_or(function))) {
    const SourceTarget target = find_source(workspace, profile.strings()[profile.functions().file[f.v]]);
    if (target.paths.size() == 1) found.emplace_back(target.paths[0], profile.functions().start_line[f.v]);
  }
  return found;
}

// A jump to where a function is defined, when the workspace has exactly one such place; then its callers.
void CommandsModule::go_to(const Params& params, Reply reply) {
  const std::string function = argument(params, "function", 0);
  const auto open = session_.profile(argument(params, "profile", 1));
  if (!open || function.empty()) return callers(params, std::move(reply));
  struct Looked {
    Result<std::vector<std::pair<std::string, std::uint32_t>>> found;
    Reply reply;
  };
  const auto looked = std::make_shared<Looked>(
      Looked{fail(ErrorCode::internal, "the function could not be looked for"), std::move(reply)});
  session_.aside(
      Lane::interactive, "profd.goto",
      [looked, open = *open, function, workspace = session_.workspace.snapshot()] {
        looked->found = definitions(*open->profile, function, workspace);
      },
      [this, looked, params, function] {
        if (!looked->found) return looked->reply.error(to_psp(looked->found.error()));
        if (looked->found->size() != 1) return callers(params, std::move(looked->reply));
        const auto& [path, line] = looked->found->front();
        show_source(path, line);
        looked->reply(psp::Any(json{{"function", function}, {"uri", uri_of_path(path)}}));
      });
}

// The editor hands the address to another program, whose arguments others can read: one that is good once.
void CommandsModule::open_in_browser(const Params& params, Reply reply) {
  const OpenProfilePtr open = profile(argument(params, "profile", 0), reply);
  if (!open) return;
  const std::string view = argument(params, "view", 1);
  if (!view.empty())
    if (const auto named = from_psp(psp::ViewSpecLike(view), "params.arguments[1]"); !named)
      return reply.error(named.error());
  const auto page = web_page(session_, {open->origin->uri()}, view);
  if (!page) return reply.error(to_psp(page.error()));
  if (!page->has_page)
    return reply.error(psp::ErrorCodes::request_failed,
                       "this profd was built without the views for browsers; build it where Node is");
  if (session_.can.show_document) {
    psp::ShowDocumentParams shown;
    shown.uri = page->once;
    shown.external = true;
    session_.peer->call<psp::ShowDocumentRequest>(shown, [](const auto&) {});
  } else if (!session_.can.native) {
    // Not through the log: it carries the token.
    session_.peer->notify<psp::ShowMessageNotification>({psp::MessageType::info, page->address});
  }
  reply(psp::Any(json{{"address", page->address}, {"once", page->once}}));
}

void CommandsModule::show_source(const std::string& path, std::uint32_t line) {
  if (!session_.can.show_document || !session_.workspace.inside(path)) return;
  psp::ShowDocumentParams params;
  params.uri = uri_of_path(path);
  params.take_focus = true;
  if (line > 0) params.selection = psp::Range{{line - 1, 0}, {line - 1, 0}};
  session_.peer->call<psp::ShowDocumentRequest>(params, [](const auto&) {});
}

// Called on the worker that has the answer; nothing where the client shows its answers itself.
std::function<void(const ReportPage&)> CommandsModule::shower(const SessionContext& session,
                                                              const std::string& name) {
  if (session.can.native) return {};
  return [peer = std::weak_ptr<protocol::Peer>(session.peer), document = session.can.show_document, name,
          client = session.client](const ReportPage& page) {
    const auto alive = peer.lock();
    if (!alive) return;
    if (document) {
      // Private to the user; the next page of the name replaces it.
      const std::string path = page_path(name, client);
      if (!path.empty() && write_private_file(path, page.markdown)) {
        psp::ShowDocumentParams params;
        params.uri = uri_of_path(path);
        params.take_focus = true;
        alive->call<psp::ShowDocumentRequest>(params, [](const auto&) {});
        return;
      }
    }
    alive->notify<psp::ShowMessageNotification>({psp::MessageType::info, sanitize_text(page.line)});
  };
}

}  // namespace

std::unique_ptr<Module> make_commands_module(SessionContext& session) {
  return std::make_unique<CommandsModule>(session);
}

}  // namespace profd
