#include "server/dialect/psp/psp_session.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "formats/writer.h"
#include "protocol/capabilities.h"
#include "protocol/json_parse.h"
#include "protocol/message.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/exports.h"
#include "server/runtime/log.h"

namespace profd {
namespace {

using nlohmann::json;
using protocol::ResponseError;

constexpr std::size_t kParsedInline = std::size_t{64} << 10;
constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20;

// Equal in a time that does not depend on where the texts differ.
bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference = static_cast<unsigned char>(difference | (a[i] ^ (b.empty() ? '\0' : b[i % b.size()])));
  return difference == 0;
}

bool is_progress(std::string_view body) {
  return body.substr(0, 64).find("\"method\":\"$/progress\"") != std::string_view::npos;
}

std::vector<std::string> roots_of(const psp::InitializeParams& params) {
  std::vector<std::string> roots;
  const auto add = [&](const std::string& uri) {
    if (auto path = path_of_uri(uri); path && roots.size() < 64) roots.push_back(std::move(*path));
  };
  if (params.workspace_folders)
    for (const psp::WorkspaceFolder& folder : *params.workspace_folders) add(folder.uri);
  if (roots.empty() && params.root_uri) add(*params.root_uri);
  return roots;
}

PositionEncoding from_psp(psp::PositionEncodingKind kind) {
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

}  // namespace

PspSession::PspSession(Engine& engine, PspOptions options, std::shared_ptr<Channel> channel)
    : engine_(engine),
      options_(std::move(options)),
      channel_(std::move(channel)),
      workspace_(engine),
      authorised_(options_.token.empty()),
      frames_({4096, kMaxMessageBytes}) {
  client_ = engine_.add_client(this);
  protocol::PeerHooks hooks;
  hooks.send = [channel = channel_](const std::string& body) {
    channel->send(protocol::frame(body), is_progress(body));
  };
  hooks.log = [](std::string_view text) { log_warning(sanitize_text(text)); };
  peer_ = std::make_shared<protocol::Peer>(std::move(hooks), make_binder());
}

PspSession::~PspSession() {
  close();
  *alive_ = false;
}

void PspSession::close() {
  if (std::exchange(closed_, true)) return;
  peer_->close();
  engine_.remove_client(client_);
  channel_->close();
}

void PspSession::receive(std::string_view bytes) {
  if (closed_) return;
  frames_.feed(bytes);
  next_message();
}

void PspSession::end_of_input() {
  input_ended_ = true;
  if (!parsing_)
    if (const auto cut = frames_.finish())
      log_warning(fmt::format("the stream ended inside a message: {}", cut->message));
}

bool PspSession::idle() const {
  return !parsing_ && peer_->n_incoming() == 0;
}
std::size_t PspSession::backlog() const {
  return frames_.pending_bytes();
}

void PspSession::next_message() {
  while (!parsing_ && !closed_) {
    auto frame = frames_.next();
    if (!frame) return;
    if (auto* error = std::get_if<protocol::FrameError>(&*frame)) {
      peer_->refuse({std::nullopt, ResponseError(psp::ErrorCodes::parse_error, error->message)});
      continue;
    }
    take_body(std::move(std::get<std::string>(*frame)));
  }
}

void PspSession::take_body(std::string body) {
  if (body.size() < kParsedInline) {
    peer_->receive(body);
    return;
  }
  // A large message is parsed on a worker; the ones behind it wait, so that order is kept.
  parsing_ = true;
  engine_.scheduler().submit(
      Lane::bulk, "parse", [this, alive = alive_, &engine = engine_, body = std::move(body)] {
        auto parsed = std::make_shared<tl::expected<protocol::Message, protocol::MessageFault>>(
            protocol::parse_message(body));
        engine.post([this, alive, parsed] {
          if (!*alive || closed_) return;
          parsing_ = false;
          if (*parsed)
            peer_->dispatch(std::move(**parsed));
          else
            peer_->refuse(parsed->error());
          next_message();
          if (input_ended_) end_of_input();
        });
      });
}

protocol::Binder PspSession::make_binder() {
  protocol::Binder binder;
  binder.request<psp::InitializeRequest>(
      [this](psp::InitializeParams params, protocol::Reply<psp::InitializeRequest> reply) {
        initialize(std::move(params), std::move(reply));
      });
  binder.notification<psp::InitializedNotification>([this](const psp::InitializedParams&) { initialized(); });
  binder.request<psp::ShutdownRequest>(
      [](psp::Null, protocol::Reply<psp::ShutdownRequest> reply) { reply({}); });
  binder.notification<psp::ExitNotification>([this](psp::Null) {
    exit_code_ = peer_->shut_down() ? 0 : 1;
    if (options_.on_exit) options_.on_exit();
  });
  binder.notification<psp::DidChangeConfigurationNotification>(
      [this](const psp::DidChangeConfigurationParams& params) {
        if (params.settings) apply_settings(*params.settings);
        refresh();
      });
  binder.notification<psp::DidChangeWatchedFilesNotification>([](const psp::DidChangeWatchedFilesParams&) {});
  if (options_.test_mode)
    binder.request<psp::SyncRequest>(
        [](const psp::SyncParams&, protocol::Reply<psp::SyncRequest> reply) { reply({}); });
  bind_documents(binder);
  bind_editor(binder);
  bind_commands(binder);
  bind_profiles(binder);
  bind_views(binder);
  bind_sources(binder);
  bind_shared(binder);
  return binder;
}

void PspSession::initialize(psp::InitializeParams params, protocol::Reply<psp::InitializeRequest> reply) {
  if (!authorised_) {
    std::string token;
    if (params.initialization_options && (*params.initialization_options)->is_object()) {
      const auto found = (*params.initialization_options)->find("token");
      if (found != (*params.initialization_options)->end() && found->is_string())
        token = found->get<std::string>();
    }
    if (!equal_in_constant_time(token, options_.token)) {
      reply.error(psp::ErrorCodes::invalid_request, "the token is missing or wrong");
      log_warning("a client without the token was turned away");
      if (options_.on_exit) options_.on_exit();
      return;
    }
    authorised_ = true;
  }
  if (params.process_id && options_.on_process_id) options_.on_process_id(*params.process_id);
  client_name_ = params.client_info ? params.client_info->name : "";
  encoding_ = from_psp(protocol::choose_position_encoding(params.capabilities));
  const psp::ClientCapabilities& caps = params.capabilities;
  if (caps.workspace) {
    can_.hint_refresh =
        caps.workspace->inlay_hint && caps.workspace->inlay_hint->refresh_support.value_or(false);
    can_.lens_refresh =
        caps.workspace->code_lens && caps.workspace->code_lens->refresh_support.value_or(false);
  }
  if (caps.window) {
    can_.progress = caps.window->work_done_progress.value_or(false);
    can_.show_document = caps.window->show_document && caps.window->show_document->support;
  }
  if (caps.text_document && caps.text_document->hover && caps.text_document->hover->content_format) {
    const auto& formats = *caps.text_document->hover->content_format;
    can_.markdown = std::any_of(formats.begin(), formats.end(),
                                [](const auto& kind) { return kind == psp::MarkupKind::markdown; });
  }
  const std::optional<psp::ProfdClientCapabilities> own = protocol::profd_capabilities(caps);
  if (own) {
    can_.profile_changed = own->profile_changed;
    can_.selection = own->selection;
    can_.status = own->status;
  }
  if (params.initialization_options) apply_settings(*params.initialization_options);
  workspace_.set_roots(roots_of(params), [this, alive = alive_] {
    if (!*alive) return;
    prepare(meant_profile());
    refresh();
  });
  psp::InitializeResult result;
  result.capabilities = capabilities();
  result.server_info = psp::NameAndVersion{"profd", PROFD_VERSION};
  reply(result);
}

psp::ServerCapabilities PspSession::capabilities() const {
  psp::ServerCapabilities result;
  result.position_encoding = encoding_to_psp(encoding_);
  psp::TextDocumentSyncOptions sync;
  sync.open_close = true;
  sync.change = psp::TextDocumentSyncKind::incremental;
  sync.save = psp::SaveOptions{false};
  result.text_document_sync = sync;
  result.hover_provider = true;
  result.code_lens_provider = psp::CodeLensOptions{false};
  result.inlay_hint_provider = true;
  result.workspace_symbol_provider = true;
  result.execute_command_provider =
      psp::ExecuteCommandOptions{{"profd.open", "profd.close", "profd.select", "profd.metric", "profd.reload",
                                  "profd.hotspots", "profd.summary", "profd.callers", "profd.goto"}};
  psp::ProfdServerCapabilities own;
  own.protocol_version = psp::kProtocolVersion;
  for (const std::string& method : peer_->binder().request_methods())
    for (const std::string_view prefix : {"profile/", "view/", "source/", "selection/", "metric/", "$/"})
      if (method.compare(0, prefix.size(), prefix) == 0) own.methods.push_back(method);
  own.shapes = {psp::ViewShape::top_down, psp::ViewShape::bottom_up, psp::ViewShape::flat,
                psp::ViewShape::callers, psp::ViewShape::callees};
  own.granularities = {psp::Granularity::address, psp::Granularity::line, psp::Granularity::function,
                       psp::Granularity::file, psp::Granularity::module};
  for (const FormatReader* reader : all_readers()) {
    psp::FormatInfo info;
    info.id = reader->info().id;
    info.title = reader->info().title;
    for (std::string_view extension : reader->info().extensions) {
      if (!extension.empty() && extension.front() == '.') extension.remove_prefix(1);
      info.extensions.emplace_back(extension);
    }
    info.reads = true;
    info.writes = find_writer(info.id, all_exports()) != nullptr;
    own.formats.push_back(std::move(info));
  }
  for (const FormatWriter* writer : all_exports()) {
    const auto known = [&](const psp::FormatInfo& info) { return info.id == writer->info().id; };
    if (std::any_of(own.formats.begin(), own.formats.end(), known)) continue;
    psp::FormatInfo info;
    info.id = writer->info().id;
    info.title = writer->info().title;
    for (const std::string_view extension : writer->info().extensions)
      info.extensions.emplace_back(extension.substr(1));
    info.writes = true;
    own.formats.push_back(std::move(info));
  }
  own.limits = {5000, 1000, static_cast<std::int64_t>(kMaxMessageBytes)};
  protocol::announce(own, result);
  return result;
}

void PspSession::initialized() {
  running_ = true;
  if (can_.status) send_status("");
  for (const std::string& problem : workspace_.project_problems())
    show_message(psp::MessageType::warning, problem);
  watch_project_folders();
  load_project_profiles();
}

// Every folder that a glob of the project file reaches into: `**` reaches into new ones too, so they are
// looked for again whenever one of them changes. Watched first and read then, so that nothing falls between.
void PspSession::watch_project_folders() {
  constexpr std::size_t kMaxFolders = 2000;
  if (!workspace_.project()) return;
  for (const std::string& glob : workspace_.project()->profiles)
    for (const std::string& folder : glob_folders(glob, kMaxFolders)) {
      if (watched_folders_.size() >= kMaxFolders) return;
      if (!watched_folders_.insert(folder).second) continue;
      engine_.watch_folder(client_, folder, [this] {
        watch_project_folders();
        load_project_profiles();
      });
    }
}

void PspSession::load_project_profiles() {
  constexpr std::size_t kMaxProfiles = 16;
  if (!workspace_.project()) return;
  std::vector<std::string> paths;
  for (const std::string& glob : workspace_.project()->profiles)
    for (std::string& path : expand_glob(glob, kMaxProfiles))
      if (paths.size() < kMaxProfiles && std::find(paths.begin(), paths.end(), path) == paths.end())
        paths.push_back(std::move(path));
  // Oldest first, so that the newest is what is meant where none is named.
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    OpenRequest request;
    request.uri = uri_of_path(*path);
    if (!project_profiles_.insert(*path).second) continue;  // watched already, or closed by the user
    request.metric = workspace_.metric().value_or("");
    open_profile(
        std::move(request), std::nullopt, [](const std::function<void()>&) {},
        [this, alive = alive_, path = *path](Result<OpenAnswer> answer) {
          if (*alive && !answer)
            show_message(psp::MessageType::warning, to_psp(answer.error(), path).message);
        });
  }
}

void PspSession::apply_settings(const protocol::Any& settings) {
  const json* object = &*settings;
  if (object->is_object() && object->contains("profd")) object = &(*object)["profd"];
  if (!object->is_object()) return;
  Settings result;
  const auto wrong = [&](const char* name, const char* expected) {
    log_message(psp::MessageType::warning, fmt::format("setting {}: expected {}", name, expected));
  };
  const auto flag = [&](const char* name, std::optional<bool>& out) {
    const auto found = object->find(name);
    if (found == object->end() || found->is_null()) return;
    if (found->is_boolean())
      out = found->get<bool>();
    else
      wrong(name, "true or false");
  };
  flag("codeLens", result.code_lens);
  flag("inlayHints", result.inlay_hints);
  if (const auto found = object->find("threshold"); found != object->end() && !found->is_null()) {
    if (found->is_number() && found->get<double>() >= 0 && found->get<double>() <= 1)
      result.threshold = found->get<double>();
    else
      wrong("threshold", "a share from 0 to 1");
  }
  if (const auto found = object->find("metric"); found != object->end() && found->is_string())
    result.metric = found->get<std::string>();
  if (const auto found = object->find("pathMappings"); found != object->end() && found->is_array())
    for (const json& item : *found) {
      if (result.mappings.size() >= 1000) break;
      const bool good = item.is_object() && item.contains("from") && item["from"].is_string() &&
                        item.contains("to") && item["to"].is_string();
      auto to = good ? path_of_uri(item["to"].get_ref<const std::string&>())
                     : Result<std::string>(fail(ErrorCode::invalid, ""));
      if (to)
        result.mappings.push_back({item["from"].get<std::string>(), std::move(*to)});
      else
        wrong("pathMappings", "a list of {from, to} with absolute `to`");
    }
  workspace_.set_settings(std::move(result));
}

void PspSession::log_message(psp::MessageType type, const std::string& text) {
  log_info(sanitize_text(text));
  if (running_) peer_->notify<psp::LogMessageNotification>({type, sanitize_text(text)});
}

void PspSession::show_message(psp::MessageType type, const std::string& text) {
  log_info(sanitize_text(text));
  if (running_) peer_->notify<psp::ShowMessageNotification>({type, sanitize_text(text)});
}

void PspSession::prepare(const OpenProfilePtr& open) {
  if (!open || closed_) return;
  const WorkspaceSnapshot workspace = workspace_.snapshot();
  const std::vector<Filter> filters = workspace_.filters();
  if (!filters.empty()) engine_.prepare(open, {});
  engine_.prepare(open, filters, &workspace);  // what editors are shown
}

void PspSession::refresh() {
  if (!running_ || closed_) return;
  const auto ignore = [](const auto&) {};
  if (can_.hint_refresh) peer_->call<psp::InlayHintRefreshRequest>({}, ignore);
  if (can_.lens_refresh && workspace_.code_lens()) peer_->call<psp::CodeLensRefreshRequest>({}, ignore);
}

void PspSession::on_profile_changed(ProfileChange change, const std::string& handle, std::uint32_t revision,
                                    const std::string& uri, const std::string& message) {
  if (change == ProfileChange::opened || change == ProfileChange::reloaded) workspace_.profile_loaded(handle);
  if (!running_ || closed_) return;
  if (can_.profile_changed) {
    psp::ProfileChangedParams params;
    params.profile = handle;
    params.revision = revision;
    params.uri = uri;
    if (!message.empty()) params.message = sanitize_text(message);
    switch (change) {
      case ProfileChange::opened:
        params.reason = psp::ProfileChangeReason::opened;
        break;
      case ProfileChange::reloaded:
        params.reason = psp::ProfileChangeReason::reloaded;
        break;
      case ProfileChange::reload_failed:
        params.reason = psp::ProfileChangeReason::reload_failed;
        break;
      case ProfileChange::closed:
        params.reason = psp::ProfileChangeReason::closed;
        break;
      case ProfileChange::default_changed:
        params.reason = psp::ProfileChangeReason::default_changed;
        break;
    }
    peer_->notify<psp::ProfileChangedNotification>(params);
  } else if (change == ProfileChange::reload_failed) {
    show_message(psp::MessageType::warning, message);
  }
  if (change == ProfileChange::reloaded || change == ProfileChange::default_changed)
    if (const OpenProfilePtr open = meant_profile(); open && open->handle == handle) prepare(open);
  refresh();
}

void PspSession::on_activity_changed(const std::string& error) {
  if (!running_ || closed_ || !can_.status) return;
  send_status(error);
}

void PspSession::send_status(const std::string& error) {
  psp::StatusParams params;
  const std::vector<Activity> activities = engine_.activities();
  params.state = activities.empty() ? psp::DaemonState::idle : psp::DaemonState::busy;
  params.profiles = static_cast<std::uint32_t>(engine_.n_profiles());
  params.clients = static_cast<std::uint32_t>(engine_.n_clients());
  params.memory = to_bytes(engine_.profile_memory() + engine_.views().memory());
  for (const Activity& activity : activities)
    params.tasks.push_back({sanitize_text(activity.title), activity.percentage});
  params.text = "profd: ";
  if (!error.empty())
    params.text += sanitize_text(error);
  else if (activities.empty())
    params.text += fmt::format("{} {}", params.profiles, params.profiles == 1 ? "profile" : "profiles");
  else
    params.text +=
        params.tasks.front().title +
        (activities.front().percentage ? fmt::format(" {} %", *activities.front().percentage) : "") +
        (activities.size() > 1 ? fmt::format(" and {} more", activities.size() - 1) : "");
  if (!error.empty()) params.error = sanitize_text(error);
  peer_->notify<psp::StatusNotification>(params);
}

OpenProfilePtr PspSession::meant_profile() const {
  if (!own_default_.empty())
    if (auto own = engine_.find(own_default_)) return *own;
  return engine_.default_profile();
}

tl::expected<OpenProfilePtr, ResponseError> PspSession::profile(const std::string& handle) {
  const OpenProfilePtr meant = handle.empty() ? meant_profile() : nullptr;
  auto found = engine_.find(meant ? meant->handle : handle);
  if (found) return *found;
  ResponseError error = to_psp(found.error());
  // Nobody cancelled anything here: the profile was dropped, and opening it again helps.
  if (found.error().code == ErrorCode::cancelled)
    error = ResponseError(psp::ErrorCodes::server_cancelled, found.error().message);
  return tl::make_unexpected(std::move(error));
}

tl::expected<MetricId, ResponseError> PspSession::metric(const OpenProfile& open, const std::string& name,
                                                         const std::string& where) {
  if (name.empty()) return open.metric;
  if (const auto found = open.profile->find_metric(name)) return *found;
  std::string known;
  for (const MetricInfo& info : open.profile->metrics()) known += (known.empty() ? "" : ", ") + info.name;
  return tl::make_unexpected(invalid_params(where, fmt::format("no metric {}; there are {}", name, known)));
}

}  // namespace profd
