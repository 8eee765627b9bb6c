// What profd says, and what is told to it.
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "protocol/json_parse.h"
#include "protocol/json_spans.h"
#include "protocol/message.h"
#include "server/proxy/merge_answers.h"
#include "server/proxy/proxy.h"

namespace profd {
namespace {

using protocol::json_member;
using protocol::with_json_member;
using protocol::without_json_member;

constexpr std::size_t kMaxLate = 1000;
constexpr std::string_view kInitializeOfProfd = "initialize";

std::string_view or_empty_object(std::string_view value) {
  return protocol::is_json_object(value) ? value : std::string_view("{}");
}

// With the ids that profd gave its registrations made this proxy's.
std::string with_own_ids(std::string_view registrations,
                         const std::function<std::string(std::string_view)>& tagged) {
  std::string out = "[";
  protocol::JsonItems items(registrations);
  while (const auto item = items.next()) {
    if (out.size() > 1) out += ',';
    out += with_json_member(*item, "id", tagged(json_member(*item, "id")));
  }
  return out + "]";
}

}  // namespace

std::string Proxy::tagged(std::string_view text) const {
  return protocol::dump_json(options_.tag + ":" + std::string(text));
}

std::optional<std::string> Proxy::untagged(std::string_view json) const {
  auto text = protocol::json_string(json);
  const std::string begin = options_.tag + ":";
  if (!text || !text->starts_with(begin)) return std::nullopt;
  return text->substr(begin.size());
}

void Proxy::tell_editor(std::string_view method, const std::string& params) {
  out_.to_editor(protocol::notification_text(method, params));
}

void Proxy::show_message(const std::string& text) {
  if (!editor_initialized_) {
    if (!unsaid_.empty()) unsaid_ += '\n';
    unsaid_ += text;
    return;
  }
  tell_editor("window/showMessage", "{\"type\":2,\"message\":" + protocol::dump_json(text) + "}");
}

void Proxy::profd_there() {
  profd_ = Profd::connected;
  profd_comes_ = true;
  if (!initialize_answer_.empty()) ask_profd_to_initialize();
}

// As the editor asked the wrapped server, with the encoding that this one chose.
void Proxy::ask_profd_to_initialize() {
  if (profd_ != Profd::connected) return;
  profd_ = Profd::asked;
  const std::string_view capabilities = or_empty_object(json_member(initialize_, "capabilities"));
  const std::string_view general = or_empty_object(json_member(capabilities, "general"));
  const std::string_view document = or_empty_object(json_member(capabilities, "textDocument"));
  std::string own(capabilities);
  own = with_json_member(own, "general",
                         with_json_member(general, "positionEncodings", "[" + encoding_name_ + "]"));
  // What profd pushes stands beside what the wrapped server is asked for.
  own = with_json_member(own, "textDocument", without_json_member(document, "diagnostic"));
  std::string params = without_json_member(or_empty_object(initialize_), "workDoneToken");
  params = with_json_member(params, "capabilities", own);
  const std::string_view options = json_member(json_member(initialize_, "initializationOptions"), "profd");
  params = options.empty() ? without_json_member(params, "initializationOptions")
                           : with_json_member(params, "initializationOptions",
                                              "{\"profd\":" + std::string(options) + "}");
  out_.to_profd("{\"jsonrpc\":\"2.0\",\"id\":" + tagged(kInitializeOfProfd) +
                ",\"method\":\"initialize\",\"params\":" + params + "}");
}

// Once both it and the editor are ready, with what it missed.
void Proxy::start_profd() {
  if (profd_ != Profd::ready || !editor_initialized_) return;
  if (std::exchange(is_late_, false)) profd_is_late();
  profd_ = Profd::running;
  out_.to_profd(protocol::notification_text("initialized", "{}"));
  for (const std::string& change : folder_changes_) out_.to_profd(change);
  if (!configuration_.empty()) out_.to_profd(configuration_);
  for (std::string& body : documents_.opening()) out_.to_profd(std::move(body));
}

void Proxy::tell_version(std::string_view initialized) {
  const auto theirs = protocol::json_string(json_member(json_member(initialized, "serverInfo"), "version"));
  if (theirs && !options_.version.empty() && *theirs != options_.version)
    show_message(fmt::format(
        "profd: the daemon that runs is profd {}, this is profd {}: what only one of them knows is "
        "missing. It ends when all editors are closed, and the next one is of this version",
        *theirs, options_.version));
}

void Proxy::from_profd(std::string body) {
  const MessageHead head = read_head(body);
  if (head.method.empty()) return answer_from_profd(head, std::move(body));
  if (!head.id.empty()) return request_from_profd(head, body);
  if (head.method == "$/progress") return progress_from_profd(head, std::move(body));
  if (head.method == "textDocument/publishDiagnostics") return diagnostics_from_profd(std::move(body));
  out_.to_editor(std::move(body));
}

void Proxy::answer_from_profd(const MessageHead& head, std::string body) {
  const auto id = protocol::request_id_of(head.id);
  if (!id) return;
  const bool failed = !protocol::is_json_nothing(head.error);
  if (profd_ == Profd::asked && untagged(head.id) == kInitializeOfProfd) {
    if (failed)
      return profd_gone("profd refused the session: " +
                            protocol::json_string(json_member(head.error, "message")).value_or(""),
                        false);
    profd_ = Profd::ready;
    is_late_ = answered_initialize_ && profd_initialized_.empty();
    profd_initialized_ = head.result;
    tell_version(head.result);
    answer_initialize();
    return start_profd();
  }
  const auto found = pending_.find(*id);
  if (found == pending_.end() || !found->second.profd) {
    if (const auto late = late_.extract(*id); !late.empty() && !failed) late_from_profd(late.mapped());
    return;
  }
  Pending& pending = found->second;
  asked_anew_.erase(pending.method);
  if (!pending.server) {
    if (!failed)
      body = with_json_member(body, "result", marked_result(pending.method, head.result, options_.tag));
    pending_.erase(found);
    return out_.to_editor(std::move(body));
  }
  pending.result = failed ? "null" : marked_result(pending.method, head.result, options_.tag);
  if (pending.answer) finish(found);
}

// The server's answer is there, and profd's or the end of the patience.
void Proxy::finish(PendingMap::iterator at) {
  const protocol::RequestId id = at->first;
  Pending pending = std::move(at->second);
  pending_.erase(at);
  std::string answer = std::move(*pending.answer);
  if (!pending.result) {
    if (late_.size() >= kMaxLate) late_.clear();
    if (pending.profd) late_.emplace(id, pending.method);
    return out_.to_editor(std::move(answer));
  }
  const MergeKind kind = merged_method(pending.method)->kind;
  const auto merged = merged_result(kind, json_member(answer, "result"), *pending.result, pending.uri);
  if (!merged) return out_.to_editor(std::move(answer));
  if (!pending.partial_seen || kind == MergeKind::hover)
    return out_.to_editor(with_json_member(answer, "result", *merged));
  // All of it has to come in parts, where some did.
  tell_editor("$/progress", "{\"token\":" + pending.partial_token + ",\"value\":" + *pending.result + "}");
  out_.to_editor(std::move(answer));
}

// Its work was not for nothing: it is asked again, and knows by now.
void Proxy::late_from_profd(const std::string& method) {
  const MergedMethod* const merged = merged_method(method);
  if (merged != nullptr && asked_anew_.insert(method).second) refresh(*merged);
}

void Proxy::refresh(const MergedMethod& method) {
  constexpr std::string_view kBegin = "workspace/", kEnd = "/refresh";
  if (method.refresh.empty()) return;
  const std::string_view name =
      method.refresh.substr(kBegin.size(), method.refresh.size() - kBegin.size() - kEnd.size());
  const std::string_view workspace = json_member(json_member(initialize_, "capabilities"), "workspace");
  if (json_member(json_member(workspace, name), "refreshSupport") != "true") return;
  ask_editor(method.refresh);
}

void Proxy::ask_editor(std::string_view method, const std::string& params) {
  out_.to_editor("{\"jsonrpc\":\"2.0\",\"id\":" + tagged("own " + std::to_string(next_id_++)) +
                 ",\"method\":\"" + std::string(method) + '"' +
                 (params.empty() ? std::string() : ",\"params\":" + params) + "}");
}

void Proxy::request_from_profd(const MessageHead& head, const std::string& body) {
  const std::int64_t number = next_id_++;
  asked_by_profd_.emplace(number, head.id);
  std::string own = body;
  const auto tag = [this](std::string_view text) { return tagged(text); };
  if (head.method == "window/workDoneProgress/create") {
    const std::string_view token = json_member(head.params, "token");
    profd_tokens_.emplace(token);
    own = with_json_member(own, "params", with_json_member(head.params, "token", tagged(token)));
  } else if (head.method == "client/registerCapability" || head.method == "client/unregisterCapability") {
    const std::string_view key =
        head.method == "client/registerCapability" ? "registrations" : "unregisterations";
    own = with_json_member(
        own, "params", with_json_member(head.params, key, with_own_ids(json_member(head.params, key), tag)));
  }
  out_.to_editor(with_json_member(own, "id", tagged(std::to_string(number))));
}

void Proxy::progress_from_profd(const MessageHead& head, std::string body) {
  const std::string token(json_member(head.params, "token"));
  if (!profd_tokens_.contains(token)) return out_.to_editor(std::move(body));
  if (json_member(json_member(head.params, "value"), "kind") == "\"end\"") profd_tokens_.erase(token);
  out_.to_editor(with_json_member(body, "params", with_json_member(head.params, "token", tagged(token))));
}

void Proxy::profd_gone(const std::string& why, bool returns) {
  const bool ran = std::exchange(profd_, Profd::absent) == Profd::running;
  profd_comes_ = returns;
  for (const std::string& token : std::exchange(profd_tokens_, {}))
    tell_editor("$/progress", "{\"token\":" + tagged(token) + ",\"value\":{\"kind\":\"end\"}}");
  asked_by_profd_.clear();
  late_.clear();
  for (auto at = pending_.begin(); at != pending_.end();) {
    const auto here = at++;
    Pending& pending = here->second;
    if (!pending.profd) continue;
    pending.profd = false;
    if (pending.answer) {
      finish(here);
    } else if (!pending.server) {
      out_.to_editor(protocol::error_text(here->first,
                                          protocol::ResponseError(psp::ErrorCodes::request_failed, why, {})));
      pending_.erase(here);
    }
  }
  if (exited_) return;
  diagnostics_without_profd();
  if (waits_to_answer_ && !returns) answer_initialize();
  show_message(why);
  if (!ran) return;
  for (const MergedMethod& one : merged_methods()) refresh(one);  // what it showed is no more
}

std::optional<ProxyClock::time_point> Proxy::next_deadline() const {
  std::optional<ProxyClock::time_point> next;
  if (waits_to_answer_) next = first_deadline_;
  for (const auto& [id, pending] : pending_)
    if (pending.answer && (!next || pending.deadline < *next)) next = pending.deadline;
  return next;
}

void Proxy::tick(ProxyClock::time_point now) {
  if (waits_to_answer_ && now >= first_deadline_) answer_initialize();
  for (auto at = pending_.begin(); at != pending_.end();) {
    const auto here = at++;
    if (here->second.answer && now >= here->second.deadline) finish(here);
  }
}

}  // namespace profd
