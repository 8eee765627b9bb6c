#include "server/dialect/psp/psp_session.h"

#include <algorithm>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "protocol/capabilities.h"
#include "protocol/message.h"
#include "server/dialect/psp/abilities.h"
#include "server/dialect/psp/live.h"
#include "server/dialect/psp/settings.h"
#include "server/engine/afterwards.h"
#include "server/engine/uri.h"
#include "server/platform/last_words.h"
#include "server/runtime/log.h"
#include "server/runtime/secret.h"

namespace profd {
namespace {

using protocol::ResponseError;

constexpr std::size_t kMaxWorkspaceRoots = 64, kMaxWanted = 100;
constexpr std::size_t kParsedInline = std::size_t{64} << 10;
constexpr std::size_t kParsedSoon = std::size_t{1} << 20;

protocol::MessageFault no_memory_for(std::string_view body) {
  psp::ErrorData data;
  data.reason = "limit";
  return {
      protocol::find_request_id(body),
      ResponseError(psp::ErrorCodes::request_failed, "there is not enough memory for this message", data)};
}

std::vector<std::string> roots_of(const psp::InitializeParams& params) {
  std::vector<std::string> roots;
  const auto add = [&](const std::string& uri) {
    if (auto path = path_of_uri(uri); path && roots.size() < kMaxWorkspaceRoots)
      roots.push_back(std::move(*path));
  };
  if (params.workspace_folders)
    for (const psp::WorkspaceFolder& folder : *params.workspace_folders) add(folder.uri);
  if (roots.empty() && params.root_uri) add(*params.root_uri);
  return roots;
}

PositionEncoding encoding_of(psp::PositionEncodingKind kind) {
  switch (kind) {
    case psp::PositionEncodingKind::utf8:
      return PositionEncoding::utf8;
    case psp::PositionEncodingKind::utf32:
      return PositionEncoding::utf32;
    default:
      return PositionEncoding::utf16;
  }
}

psp::PositionEncodingKind encoding_to_psp(PositionEncoding encoding) {
  switch (encoding) {
    case PositionEncoding::utf8:
      return psp::PositionEncodingKind::utf8;
    case PositionEncoding::utf32:
      return psp::PositionEncodingKind::utf32;
    default:
      return psp::PositionEncodingKind::utf16;
  }
}

// What only `initialize` looks at; null: absent.
const nlohmann::json& initial_option(const psp::InitializeParams& params, const char* name) {
  static const nlohmann::json absent;
  if (!params.initialization_options || !(*params.initialization_options)->is_object()) return absent;
  const nlohmann::json& options = **params.initialization_options;
  const auto option = options.find(name);
  return option == options.end() ? absent : *option;
}

}  // namespace

PspSession::PspSession(Engine& engine, SessionSetup setup, std::shared_ptr<Channel> channel)
    : context_(engine, std::move(setup)),
      channel_(std::move(channel)),
      authorised_(context_.setup.token.empty()) {
  context_.client = engine.add_client(this);
  context_.tasks.set_client(context_.client);
  context_.workspace.set_client(context_.client);
  modules_.push_back(make_documents_module(context_));
  modules_.push_back(make_editor_module(context_));
  modules_.push_back(make_hierarchy_module(context_));
  modules_.push_back(make_diagnostics_module(context_));
  modules_.push_back(make_commands_module(context_));
  modules_.push_back(make_profiles_module(context_));
  modules_.push_back(make_analyses_module(context_));
  modules_.push_back(make_symbols_module(context_));
  modules_.push_back(make_project_module(context_));
  modules_.push_back(make_recordings_module(context_));
  modules_.push_back(make_views_module(context_));
  modules_.push_back(make_sources_module(context_));
  modules_.push_back(make_code_module(context_));
  modules_.push_back(make_assembly_module(context_));
  modules_.push_back(make_live_module(context_));
  modules_.push_back(make_uploads_module(context_));
  modules_.push_back(make_web_module(context_));
  modules_.push_back(make_shared_module(context_));
  protocol::PeerHooks hooks;
  // What is said was worked out already, and is said even when there is no memory for anything else.
  hooks.send = [to = channel_](std::string body, protocol::Keep keep) {
    const LastWords words;
    to->send(std::move(body), keep);
  };
  hooks.log = [](std::string_view text) { log_warning(text); };
  hooks.dropped = [](std::string_view method) -> std::optional<ResponseError> {
    if (!ran_out_of_memory()) return std::nullopt;
    psp::ErrorData data;
    data.reason = "limit";
    return ResponseError(psp::ErrorCodes::request_failed,
                         std::string(method) + ": there is not enough memory to answer this", data);
  };
  hooks.at_last = [](const std::function<void()>& say) {
    const LastWords words;
    say();
  };
  context_.aside = [this](Lane lane, const char* what, UniqueFunction<void()> work,
                          UniqueFunction<void()> then) {
    aside(lane, what, std::move(work), std::move(then));
  };
  context_.meant_changed = [this] { look_at_meant(); };
  context_.documents_changed = [this] {
    if (!context_.running || context_.closed) return;
    for (const auto& module : modules_) module->on_documents();
  };
  context_.peer = std::make_shared<protocol::Peer>(std::move(hooks), make_binder());
}

PspSession::~PspSession() {
  close();
  *context_.alive = false;
}

void PspSession::close() {
  if (std::exchange(context_.closed, true)) return;
  context_.peer->close();
  for (const auto& module : modules_) module->end();
  context_.engine.remove_client(context_.client);
  channel_->close();
}

bool PspSession::idle() const {
  return n_aside_ == 0 && context_.peer->n_incoming() == 0;
}

void PspSession::refuse(const std::string& why) {
  if (!context_.closed)
    context_.peer->refuse({std::nullopt, ResponseError(psp::ErrorCodes::parse_error, why)});
}

void PspSession::receive(std::string body) {
  if (context_.closed) return;
  if (body.size() < kParsedInline) {
    try {
      context_.peer->receive(body);
    } catch (const std::bad_alloc&) {
      const LastWords words;
      context_.peer->refuse(no_memory_for(body));
    }
    return;
  }
  // A large message is parsed on a worker; the ones behind it wait, so that order is kept.
  using Parsed = std::optional<tl::expected<protocol::Message, protocol::MessageFault>>;
  const Lane lane = body.size() < kParsedSoon ? Lane::interactive : Lane::bulk;
  const auto parsed = std::make_shared<Parsed>();
  const auto text = std::make_shared<std::string>(std::move(body));
  const auto taken = std::make_shared<std::size_t>(text->size());
  const auto parse = [parsed, text, taken, pool = context_.engine.pool()] {
    Account account(pool, StopSource());
    try {
      const Account::Scope scope(&account);
      *parsed = protocol::parse_message(*text);
    } catch (const std::bad_alloc&) {
      const LastWords words;
      protocol::MessageFault fault = no_memory_for(*text);
      if (account.over()) fault.error.message = account.error("this message").message;
      *parsed = tl::make_unexpected(std::move(fault));
    }
    *taken += static_cast<std::size_t>(std::max<std::int64_t>(account.peak(), 0));
    *text = {};
  };
  const auto dispatch = [this, parsed, taken] {
    const std::size_t bytes = *taken;
    Parsed message = std::exchange(*parsed, std::nullopt);
    if (!message)
      context_.peer->refuse({std::nullopt, ResponseError(psp::ErrorCodes::internal_error, "not parsed")});
    else if (*message)
      context_.peer->dispatch(**message);
    else
      context_.peer->refuse(message->error());
    message.reset();
    context_.engine.freed(bytes);
  };
  try {
    aside(lane, "parse", parse, dispatch);
  } catch (const std::exception&) {  // neither memory nor a thread for it
    const LastWords words;
    context_.peer->refuse(no_memory_for(*text));
  }
}

// An exception in `work` ends it; `then` comes all the same, or the session would wait for ever. When even
// submitting fails, `then` does not come and the session goes on.
void PspSession::aside(Lane lane, const char* what, UniqueFunction<void()> work,
                       UniqueFunction<void()> then) {
  const auto to_strand = [&engine = context_.engine](UniqueFunction<void()> task) {
    engine.post(std::move(task));
  };
  const auto over = std::make_shared<Afterwards<decltype(to_strand)>>(
      to_strand, [this, alive = context_.alive, then = std::move(then)]() mutable {
        if (!*alive || context_.closed) return;
        // What fails there has answered, or been dropped, by now.
        try {
          then();
        } catch (const std::exception& exception) {
          const LastWords words;
          log_error(std::string("a message failed: ") + exception.what());
        }
        if (--n_aside_ == 0 && on_ready_) on_ready_();
      });
  ++n_aside_;
  try {
    context_.engine.scheduler().submit(
        lane, context_.client, what,
        [work = std::move(work), over]() mutable {
          work();
          work = {};
        },
        TaskKind::reading);
  } catch (const std::exception&) {
    over->forget();
    --n_aside_;
    throw;
  }
}

protocol::Binder PspSession::make_binder() {
  protocol::Binder binder;
  binder.request<psp::InitializeRequest>(
      [this](const psp::InitializeParams& params, protocol::Reply<psp::InitializeRequest> reply) {
        initialize(params, std::move(reply));
      });
  binder.notification<psp::InitializedNotification>([this](const psp::InitializedParams&) {
    context_.running = true;
    for (const auto& module : modules_) module->start();
    open_wanted();
    register_wishes();
    if (context_.can.configuration) ask_settings();
    tell_room();
  });
  binder.request<psp::ShutdownRequest>(
      [](psp::Null, protocol::Reply<psp::ShutdownRequest> reply) { reply({}); });
  binder.notification<psp::ExitNotification>([this](psp::Null) {
    exit_code_ = context_.peer->shut_down() ? 0 : 1;
    if (context_.setup.on_exit) context_.setup.on_exit();
  });
  binder.notification<psp::DidChangeConfigurationNotification>(
      [this](const psp::DidChangeConfigurationParams& params) { settings_changed(params.settings); });
  binder.notification<psp::DidChangeWatchedFilesNotification>(
      [this](const psp::DidChangeWatchedFilesParams& params) {
        std::vector<std::string> paths;
        for (const psp::FileEvent& change : params.changes)
          if (auto path = path_of_uri(change.uri)) paths.push_back(std::move(*path));
        if (!context_.running || context_.closed) return;
        for (const auto& module : modules_) module->on_files(paths);
      });
  binder.notification<psp::DidChangeWorkspaceFoldersNotification>(
      [this](const psp::DidChangeWorkspaceFoldersParams& params) { folders_changed(params.event); });
  if (context_.setup.test_mode)
    binder.request<psp::SyncRequest>(
        [](const psp::SyncParams&, protocol::Reply<psp::SyncRequest> reply) { reply({}); });
  for (const auto& module : modules_) module->bind(binder);
  awaiting_.bind(binder, context_.engine, context_.client);
  return binder;
}

bool PspSession::authorise(const psp::InitializeParams& params) {
  if (authorised_) return true;
  const nlohmann::json& token_option = initial_option(params, "token");
  const std::string token = token_option.is_string() ? token_option.get<std::string>() : "";
  authorised_ = equal_in_constant_time(token, context_.setup.token);
  return authorised_;
}

void PspSession::initialize(const psp::InitializeParams& params,
                            protocol::Reply<psp::InitializeRequest> reply) {
  if (!authorise(params)) {
    reply.error(psp::ErrorCodes::invalid_request, "the token is missing or wrong");
    log_warning("a client without the token was turned away");
    if (context_.setup.on_exit) context_.setup.on_exit();
    return;
  }
  if (context_.setup.on_known) context_.setup.on_known();
  if (params.process_id && context_.setup.on_process_id) context_.setup.on_process_id(*params.process_id);
  context_.encoding = encoding_of(protocol::choose_position_encoding(params.capabilities));
  context_.can = abilities_of(params.capabilities);
  // It shows the characters of a table as they stand, and has no capability that says so.
  if (params.client_info && params.client_info->name == "helix") context_.can.markdown_tables = false;
  if (params.initialization_options) apply_settings(*params.initialization_options, kInitially);
  if (const nlohmann::json& profiles = initial_option(params, "profiles");
      profiles.is_array() && !context_.setup.may_have_root)
    for (const nlohmann::json& one : profiles)
      if (one.is_string() && wanted_.size() < kMaxWanted) wanted_.push_back(one.get<std::string>());
  std::vector<std::string> roots = roots_of(params);
  if (context_.setup.may_have_root)
    std::erase_if(roots, [&](const std::string& root) { return !context_.setup.may_have_root(root); });
  const auto shared = std::make_shared<protocol::Reply<psp::InitializeRequest>>(std::move(reply));
  set_roots(std::move(roots), [this, shared] {
    psp::InitializeResult result;
    result.capabilities = capabilities();
    result.server_info = psp::NameAndVersion{"profd", PROFD_VERSION};
    (*shared)(result);
  });
}

void PspSession::set_roots(std::vector<std::string> roots, UniqueFunction<void()> then) {
  struct Found {
    std::vector<std::string> roots;
    ProjectFound project;
    UniqueFunction<void()> then;
  };
  const auto found = std::make_shared<Found>(Found{std::move(roots), {}, std::move(then)});
  const auto go_on = [this, found] {
    context_.workspace.set_roots(std::move(found->roots), std::move(found->project),
                                 [this, alive = context_.alive] {
                                   if (!*alive) return;
                                   tell_room();
                                   context_.prepare(context_.meant_profile());
                                   refresh();
                                 });
    found->then();
  };
  if (found->roots.empty()) return go_on();
  // The project file may be far away. What the client says meanwhile waits: it is under what the file says.
  if (!context_.workspace.takes_project_file()) return go_on();
  aside(
      Lane::interactive, "project file", [found] { found->project = find_project(found->roots); }, go_on);
}

void PspSession::folders_changed(const psp::WorkspaceFoldersChangeEvent& event) {
  std::vector<std::string> roots = context_.workspace.roots();
  for (const psp::WorkspaceFolder& folder : event.removed)
    if (const auto path = path_of_uri(folder.uri)) std::erase(roots, *path);
  for (const psp::WorkspaceFolder& folder : event.added)
    if (auto path = path_of_uri(folder.uri); path && roots.size() < kMaxWorkspaceRoots)
      roots.push_back(*path);
  if (context_.setup.may_have_root)
    std::erase_if(roots, [&](const std::string& root) { return !context_.setup.may_have_root(root); });
  set_roots(std::move(roots), [this] {
    if (!context_.running || context_.closed) return;
    for (const auto& module : modules_) module->on_roots();
    refresh();
  });
}

void PspSession::settings_changed(const std::optional<protocol::Any>& settings) {
  const bool says_how = settings && (*settings)->is_object() && !(*settings)->empty();
  if (!says_how && context_.can.configuration) return ask_settings();
  if (settings) apply_settings(*settings, kAtAnyTime);
  refresh();
}

// An editor that has no settings for profd answers with nothing or with an empty object: what was set before
// holds.
void PspSession::ask_settings() {
  psp::ConfigurationItem item;
  item.section = "profd";
  context_.peer->call<psp::ConfigurationRequest>(
      {{std::move(item)}},
      [this, alive = context_.alive](
          const tl::expected<std::vector<protocol::Any>, protocol::ResponseError>& answer) {
        if (!*alive || context_.closed || !answer || answer->empty()) return;
        const protocol::Any& settings = answer->front();
        if (!settings->is_object() || settings->empty()) return;
        apply_settings(settings, kAtAnyTime);
        refresh();
      });
}

// What the server wants to hear of.
void PspSession::register_wishes() {
  psp::RegistrationParams params;
  const auto add = [&](const char* method, nlohmann::json options) {
    psp::Registration& out = params.registrations.emplace_back();
    out.id = std::string("profd ") + method;
    out.method = method;
    out.register_options = psp::Any(std::move(options));
  };
  if (context_.can.registers_configuration) add("workspace/didChangeConfiguration", {{"section", "profd"}});
  if (context_.can.registers_watched_files) {
    nlohmann::json watchers = nlohmann::json::array({{{"globPattern", "**/.profd.toml"}}});
    if (const auto& project = context_.workspace.project())
      for (const std::string& glob : project->settings.profiles) watchers.push_back({{"globPattern", glob}});
    add("workspace/didChangeWatchedFiles", {{"watchers", std::move(watchers)}});
  }
  if (!params.registrations.empty())
    context_.peer->call<psp::RegisterCapabilityRequest>(params, [](const auto&) {});
}

void PspSession::open_wanted() {
  const std::vector<std::string>& roots = context_.workspace.roots();
  bool first = true;
  for (std::string& wanted : wanted_) {
    const bool is_relative = scheme_of(wanted).empty() && !wanted.starts_with('/');
    if (is_relative && !roots.empty()) wanted = roots.front() + "/" + wanted;
    OpenRequest request;
    request.uri = scheme_of(wanted).empty() ? uri_of_path(wanted) : wanted;
    request.make_default = std::exchange(first, false);
    request.preferred_metric = context_.workspace.metric().value_or("");
    context_.opening.open(
        std::move(request), nullptr, std::nullopt, [](const std::function<void()>&) {},
        [this, alive = context_.alive, wanted](const Result<OpenAnswer>& answer) {
          if (!*alive || context_.closed || answer) return;
          context_.show_message(psp::MessageType::warning,
                                to_psp(answer.error(), path_or_uri(wanted)).message);
        });
  }
  wanted_.clear();
}

// Its hints would be missing in silence.
void PspSession::tell_room() {
  if (!context_.running) return;
  const std::string problem = context_.workspace.no_room();
  if (problem.empty() == !told_of_room_) return;
  told_of_room_ = !problem.empty();
  if (told_of_room_)
    context_.show_message(psp::MessageType::warning, problem);
  else
    context_.show_message(psp::MessageType::info,
                          "there is room again: all files of the workspace are known");
}

psp::ServerCapabilities PspSession::capabilities() const {
  psp::ServerCapabilities result;
  result.position_encoding = encoding_to_psp(context_.encoding);
  psp::ProfdServerCapabilities own;
  own.protocol_version = psp::kProtocolVersion;
  for (const std::string& method : context_.peer->binder().request_methods())
    for (const std::string_view prefix : {"analysis/", "live/", "profile/", "view/", "source/", "selection/",
                                          "metric/", "upload/", "web/", "$/"})
      if (method.compare(0, prefix.size(), prefix) == 0) own.methods.push_back(method);
  if (context_.can.workspace_folders) {
    result.workspace.emplace();
    result.workspace->workspace_folders = psp::WorkspaceFoldersServerCapabilities{true, true};
  }
  for (const auto& module : modules_) module->announce(result, own);
  own.limits = {5000, 1000, static_cast<std::int64_t>(protocol::kMaxMessageBytes)};
  protocol::announce(own, result);
  return result;
}

void PspSession::apply_settings(const protocol::Any& settings, SettingPlaces place) {
  const bool by_page = context_.setup.may_have_root != nullptr;
  auto read = read_settings(*settings, by_page ? place | kFromPage : place);
  if (!read) return;
  for (const std::string& problem : read->problems) context_.log_message(psp::MessageType::warning, problem);
  context_.workspace.set_settings(std::move(read->settings));
}

void PspSession::refresh() {
  if (!context_.running || context_.closed) return;
  for (const auto& module : modules_) module->refresh();
}

// Once in a turn of the strand, however many profiles changed in it.
void PspSession::refresh_soon() {
  if (std::exchange(refreshing_, true)) return;
  context_.engine.post([this, alive = context_.alive] {
    if (!*alive) return;
    refreshing_ = false;
    refresh();
  });
}

void PspSession::on_profile_changed(ProfileChange change, const std::string& handle, std::uint32_t revision,
                                    const std::string& uri, const std::string& message, std::size_t left) {
  if (!context_.running || context_.closed) return;
  const ProfileNews news{change, handle, uri, message, revision, left};
  for (const auto& module : modules_) module->on_profile(news);
  const OpenProfilePtr meant = context_.meant_profile();
  meant_ = meant ? meant->handle : "";
  refresh_soon();
}

// What is not told as news of a profile: one that could not be read is not waited for any more, the project
// lists another one first, one that others have open was closed here.
void PspSession::look_at_meant() {
  if (context_.closed) return;
  const OpenProfilePtr now = context_.meant_profile();
  const bool is_another = (now ? now->handle : "") != meant_;
  meant_ = now ? now->handle : "";
  if (is_another && context_.running) {
    for (const auto& module : modules_) {
      if (now)
        module->on_profile({ProfileChange::default_changed, now->handle, now->uri, "", now->revision, 0});
      else
        module->on_activity("");
    }
    refresh_soon();
  }
  // Not from inside of the engine, which is in the middle of what this is about.
  context_.engine.post([this, alive = context_.alive] {
    if (*alive && !context_.closed) awaiting_.look(context_.engine, context_.client);
  });
}

void PspSession::on_selection_changed(const std::optional<SharedSelection>& selection, ClientId by) {
  if (!context_.running || context_.closed) return;
  for (const auto& module : modules_) module->on_selection(selection, by);
}

void PspSession::on_activity_changed(const std::string& error) {
  if (!context_.running || context_.closed) return;
  for (const auto& module : modules_) module->on_activity(error);
}

std::unique_ptr<Session> make_psp_session(Engine& engine, SessionSetup setup,
                                          std::shared_ptr<Channel> channel) {
  return std::make_unique<PspSession>(engine, std::move(setup), std::move(channel));
}

}  // namespace profd
