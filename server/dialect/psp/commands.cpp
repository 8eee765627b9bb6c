// workspace/executeCommand: what a plain editor can do without profd's methods. Commands that answer
// something also show it, as such an editor has nowhere to put what is only returned.
#include "server/dialect/psp/commands.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/view/code_place.h"
#include "core/view/resolve.h"
#include "server/dialect/psp/code_documents.h"
#include "server/dialect/psp/command_place.h"
#include "server/dialect/psp/module.h"
#include "server/dialect/psp/opening.h"
#include "server/dialect/psp/pages.h"
#include "server/dialect/psp/web_page.h"
#include "server/engine/find_open.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/platform/runtime_dir.h"

namespace profd {
namespace {

using nlohmann::json;
using Reply = CommandReply;
using Params = CommandParams;

constexpr std::string_view kAssemblyPage = "assembly", kAssemblyExtension = "s";

void answer(Reply& reply, const Result<void>& done) {
  if (done)
    reply(psp::Any());
  else
    reply.error(to_psp(done.error()));
}

void run_open(SessionContext& session, const Params& params, Reply reply) {
  OpenRequest request;
  request.uri = command_argument(params, "uri", 0);
  if (request.uri.empty())
    return reply.error(invalid_params("params.arguments[0]", "expected a file URI or path"));
  request.options.format = command_argument(params, "format", 1);
  request.member = command_argument(params, "profile", 2);
  request.preferred_metric = session.workspace.metric().value_or("");
  const std::string file = path_or_uri(request.uri);
  const auto shared = std::make_shared<Reply>(std::move(reply));
  session.opening.open(
      std::move(request), nullptr, params.work_done_token,
      [shared](std::function<void()> cancel) { shared->on_cancel(std::move(cancel)); },
      [shared, file](Result<OpenAnswer> opened) {
        if (!opened) return shared->error(to_psp(opened.error(), file));
        (*shared)(
            psp::Any(json{{"profile", opened->profile->handle}, {"revision", opened->profile->revision}}));
      });
}

void run_close(SessionContext& session, const Params& params, Reply reply) {
  const OpenProfilePtr open = command_profile(session, command_argument(params, "profile", 0), reply);
  if (!open) return;
  const auto closed = session.engine.close(session.client, open->handle);
  session.meant_changed();
  answer(reply, closed);
}

void run_select(SessionContext& session, const Params& params, Reply reply) {
  const std::string named = command_argument(params, "profile", 0);
  if (named.empty())
    return reply.error(
        invalid_params("params.arguments[0]", "expected a profile: its handle, name or number"));
  struct Found {
    Result<std::string> handle;
    Reply reply;
  };
  const auto found = std::make_shared<Found>(
      Found{fail(ErrorCode::internal, "the profile could not be looked for"), std::move(reply)});
  session.aside(
      Lane::interactive, "profd.select",
      [found, listing = session.engine.listing(session.client), meant = session.meant_profile(), named] {
        found->handle = find_open(listing.rows(), meant, named);
      },
      [&session, found] {
        if (!found->handle) return found->reply.error(to_psp(found->handle.error()));
        answer(found->reply, session.engine.choose(session.client, *found->handle));
      });
}

void run_metric(SessionContext& session, const Params& params, Reply reply) {
  const OpenProfilePtr open = command_profile(session, command_argument(params, "profile", 1), reply);
  if (!open) return;
  const std::string name = command_argument(params, "metric", 0);
  if (name.empty())
    return reply.error(invalid_params("params.arguments[0]", "expected the name of a metric"));
  answer(reply, session.show_metric(open->handle, name));
}

void run_reload(SessionContext& session, const Params& params, Reply reply) {
  if (const OpenProfilePtr open = command_profile(session, command_argument(params, "profile", 0), reply))
    answer(reply, session.engine.reload(open->handle));
}

// Code, in a document of its own, or in a file where the client takes no such documents.
void run_assembly(SessionContext& session, const Params& params, Reply reply) {
  const OpenProfilePtr open = command_profile(session, command_argument(params, "profile", 1), reply);
  if (!open) return;
  const std::string named = command_argument(params, "function", 0);
  CodeDocumentRequest request = code_document_request(session, open, true);
  if (const auto code = parse_code_place(named)) {
    request.code.place.module = code->module;
    request.code.place.address = code->address;
  } else {
    request.code.place.function = named;
  }
  const bool shows = session.can.show_document && (!session.can.native || session.can.text_content);
  session.run<psp::ExecuteCommandRequest>(
      true, std::move(reply), open->place(),
      [&views = session.engine.views(), request = std::move(request), shows, native = session.can.native,
       as_document = session.can.text_content, peer = std::weak_ptr<protocol::Peer>(session.peer),
       page = session.code_page, path = shown_file(kAssemblyPage, session.client, kAssemblyExtension)](
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

void show_source(SessionContext& session, const std::string& path, std::uint32_t line) {
  if (!session.can.show_document || !session.workspace.inside(path)) return;
  psp::ShowDocumentParams params;
  params.uri = uri_of_path(path);
  params.take_focus = true;
  if (line > 0) params.selection = psp::Range{{line - 1, 0}, {line - 1, 0}};
  session.peer->call<psp::ShowDocumentRequest>(params, [](const auto&) {});
}

// A jump to where a function is defined, when the workspace has exactly one such place; then its callers.
void run_go_to(SessionContext& session, const Params& params, Reply reply) {
  const std::string function = command_argument(params, "function", 0);
  const auto open = session.profile(command_argument(params, "profile", 1));
  if (!open || function.empty()) return run_callers(session, params, std::move(reply));
  struct Looked {
    Result<std::vector<std::pair<std::string, std::uint32_t>>> found;
    Reply reply;
  };
  const auto looked = std::make_shared<Looked>(
      Looked{fail(ErrorCode::internal, "the function could not be looked for"), std::move(reply)});
  session.aside(
      Lane::interactive, "profd.goto",
      [looked, open = *open, function, workspace = session.workspace.snapshot()] {
        looked->found = definitions(*open->profile, function, workspace);
      },
      [&session, looked, params, function] {
        if (!looked->found) return looked->reply.error(to_psp(looked->found.error()));
        if (looked->found->size() != 1) return run_callers(session, params, std::move(looked->reply));
        const auto& [path, line] = looked->found->front();
        show_source(session, path, line);
        looked->reply(psp::Any(json{{"function", function}, {"uri", uri_of_path(path)}}));
      });
}

// The editor hands the address to another program, whose arguments others can read: one that is good once.
void run_open_in_browser(SessionContext& session, const Params& params, Reply reply) {
  const OpenProfilePtr open = command_profile(session, command_argument(params, "profile", 0), reply);
  if (!open) return;
  std::string view = command_argument(params, "view", 1);
  if (const std::string function = command_argument(params, "function", 2);
      view.empty() && !function.empty()) {
    ViewSpec spec;
    Filter through;
    through.pattern = function;
    spec.filters.push_back(std::move(through));
    view = to_text(spec);
  } else if (!view.empty()) {
    if (const auto named = from_psp(psp::ViewSpecLike(view), "params.arguments[1]"); !named)
      return reply.error(named.error());
  }
  const auto page = web_page(session, {open->origin->uri()}, view);
  if (!page) return reply.error(to_psp(page.error()));
  if (!page->has_page)
    return reply.error(psp::ErrorCodes::request_failed,
                       "this profd was built without the views for browsers; build it where Node is");
  if (session.can.show_document) {
    psp::ShowDocumentParams shown;
    shown.uri = page->once;
    shown.external = true;
    show_document_or(session.peer, shown, page->address);
  } else if (!session.can.native) {
    // Not through the log: it carries the token.
    session.peer->notify<psp::ShowMessageNotification>({psp::MessageType::info, page->address});
  }
  reply(psp::Any(json{{"address", page->address}, {"once", page->once}}));
}

constexpr std::array<ServerCommand, 8> kCommands{{
    {"profd.open", &run_open},
    {"profd.close", &run_close},
    {"profd.select", &run_select},
    {"profd.metric", &run_metric},
    {"profd.reload", &run_reload},
    {"profd.assembly", &run_assembly},
    {"profd.goto", &run_go_to},
    {"profd.openInBrowser", &run_open_in_browser},
}};

class CommandsModule final : public Module {
 public:
  explicit CommandsModule(SessionContext& session) : session_(session) {}
  ~CommandsModule() override;
  void bind(protocol::Binder& binder) override;
  void announce(psp::ServerCapabilities& capabilities, psp::ProfdServerCapabilities&) const override;

 private:
  SessionContext& session_;
};

CommandsModule::~CommandsModule() {
  remove_shown_files(session_);
  if (session_.can.native || !session_.can.show_document) return;
  if (const std::string path = shown_file(kAssemblyPage, session_.client, kAssemblyExtension); !path.empty())
    std::remove(path.c_str());
}

void CommandsModule::announce(psp::ServerCapabilities& capabilities, psp::ProfdServerCapabilities&) const {
  psp::ExecuteCommandOptions options;
  for (const ServerCommand& command : kCommands) options.commands.emplace_back(command.name);
  for (const ServerCommand& command : report_commands()) options.commands.emplace_back(command.name);
  capabilities.execute_command_provider = std::move(options);
}

const ServerCommand* find_command(std::span<const ServerCommand> commands, std::string_view name) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const ServerCommand& command) { return command.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

void CommandsModule::bind(protocol::Binder& binder) {
  binder.request<psp::ExecuteCommandRequest>([this](const Params& params, Reply reply) {
    const ServerCommand* command = find_command(kCommands, params.command);
    if (command == nullptr) command = find_command(report_commands(), params.command);
    if (command == nullptr)
      return reply.error(
          invalid_params("params.command", fmt::format("no command {}", sanitize_text(params.command))));
    with_function_at_place(session_, params, std::move(reply),
                           [this, run = command->run](const Params& named, Reply answer) {
                             run(session_, named, std::move(answer));
                           });
  });
}

}  // namespace

std::string command_argument(const CommandParams& params, const char* name, std::size_t position) {
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

OpenProfilePtr command_profile(SessionContext& session, const std::string& named, CommandReply& reply) {
  auto open = session.profile(named);
  if (open) return *open;
  reply.error(open.error());
  return nullptr;
}

std::unique_ptr<Module> make_commands_module(SessionContext& session) {
  return std::make_unique<CommandsModule>(session);
}

}  // namespace profd
