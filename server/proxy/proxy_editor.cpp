// What the editor says.
#include <utility>

#include "protocol/json_spans.h"
#include "protocol/message.h"
#include "server/proxy/merge_answers.h"
#include "server/proxy/proxy.h"

namespace profd {
namespace {

using protocol::json_member;
using protocol::with_json_member;
using protocol::without_json_member;

constexpr std::size_t kMaxFolderChanges = 256;

// Documents that profd makes; the wrapped server has never heard of them.
bool is_of_profd(std::string_view uri_json) {
  return uri_json.starts_with("\"profd-");
}

std::string_view uri_asked_about(std::string_view params) {
  const std::string_view document = json_member(params, "textDocument");
  return document.empty() ? json_member(params, "uri") : json_member(document, "uri");
}

// The request for profd: the editor's tokens are for what the wrapped server says.
std::string without_tokens(std::string_view params, const std::string& body) {
  if (json_member(params, "workDoneToken").empty() && json_member(params, "partialResultToken").empty())
    return body;
  const std::string left =
      without_json_member(without_json_member(params, "workDoneToken"), "partialResultToken");
  return with_json_member(body, "params", left);
}

}  // namespace

void Proxy::from_editor(std::string body) {
  const MessageHead head = read_head(body);
  if (head.method.empty()) return answer_from_editor(head, std::move(body));
  if (head.id.empty()) return notification_from_editor(head, std::move(body));
  auto id = protocol::request_id_of(head.id);
  if (!id) return out_.to_server(std::move(body));
  request_from_editor(head, std::move(*id), std::move(body));
}

void Proxy::ask_server(protocol::RequestId id, std::string method, std::string body) {
  Pending pending;
  pending.method = std::move(method);
  pending.server = true;
  pending_.insert_or_assign(std::move(id), std::move(pending));
  out_.to_server(std::move(body));
}

void Proxy::ask_profd(protocol::RequestId id, std::string method, std::string body) {
  if (profd_ != Profd::running) return out_.to_editor(protocol::result_text(id, "null"));
  Pending pending;
  pending.method = std::move(method);
  pending.profd = true;
  pending_.insert_or_assign(std::move(id), std::move(pending));
  out_.to_profd(std::move(body));
}

void Proxy::ask_both(protocol::RequestId id, const MessageHead& head, std::string body) {
  Pending pending;
  pending.method = head.method;
  pending.uri = uri_asked_about(head.params);
  pending.partial_token = json_member(head.params, "partialResultToken");
  pending.server = pending.profd = true;
  pending_.insert_or_assign(std::move(id), std::move(pending));
  std::string for_profd = without_tokens(head.params, body);
  out_.to_server(std::move(body));
  out_.to_profd(std::move(for_profd));
}

// What is asked about an item of an earlier answer is asked of who gave it.
bool Proxy::ask_whose_item_it_is(const MessageHead& head, const protocol::RequestId& id,
                                 const std::string& body) {
  const bool calls =
      head.method == "callHierarchy/incomingCalls" || head.method == "callHierarchy/outgoingCalls";
  bool resolves = false;
  for (const MergedMethod& one : merged_methods()) resolves = resolves || one.resolve == head.method;
  if (!calls && !resolves) return false;
  const std::string_view item = calls ? json_member(head.params, "item") : head.params;
  const auto own = unmarked_item(item, options_.tag);
  if (!own) {
    // The editor was told that items can be completed, and not by this server.
    if (calls || can_.server.contains(head.method) || !can_.profd.contains(head.method)) return false;
    out_.to_editor(protocol::result_text(id, item));
  } else if (resolves && (!can_.profd.contains(head.method) || profd_ != Profd::running)) {
    out_.to_editor(protocol::result_text(id, item));
  } else {
    const std::string params = calls ? with_json_member(head.params, "item", *own) : *own;
    ask_profd(id, head.method, with_json_member(body, "params", params));
  }
  return true;
}

void Proxy::request_from_editor(const MessageHead& head, protocol::RequestId id, std::string body) {
  if (head.method == "initialize") return initialize(head, std::move(id), std::move(body));
  if (head.method == "shutdown" && profd_ == Profd::running)
    out_.to_profd(with_json_member(body, "id", tagged("shutdown")));
  if (is_of_profd(uri_asked_about(head.params)) || can_.native.contains(head.method))
    return ask_profd(std::move(id), head.method, std::move(body));
  if (head.method == "workspace/executeCommand") {
    const auto command = protocol::json_string(json_member(head.params, "command"));
    if (command && can_.commands.contains(*command))
      return ask_profd(std::move(id), head.method, std::move(body));
  }
  if (ask_whose_item_it_is(head, id, body)) return;
  if (head.method == "textDocument/diagnostic")
    return ask_for_diagnostics(head, std::move(id), std::move(body));
  if (head.method == "workspace/diagnostic")
    return ask_for_workspace_diagnostics(head, std::move(id), std::move(body));
  if (merged_method(head.method) == nullptr || !can_.profd.contains(head.method))
    return ask_server(std::move(id), head.method, std::move(body));
  if (!can_.server.contains(head.method)) return ask_profd(std::move(id), head.method, std::move(body));
  if (profd_ != Profd::running) return ask_server(std::move(id), head.method, std::move(body));
  ask_both(std::move(id), head, std::move(body));
}

void Proxy::initialize(const MessageHead& head, protocol::RequestId id, std::string body) {
  initialize_ = head.params;
  const std::string_view options = json_member(head.params, "initializationOptions");
  // Settings of profd are nothing that the wrapped server knows.
  if (!json_member(options, "profd").empty())
    body = with_json_member(
        body, "params",
        with_json_member(head.params, "initializationOptions", without_json_member(options, "profd")));
  ask_server(std::move(id), "initialize", std::move(body));
}

void Proxy::notification_from_editor(const MessageHead& head, std::string body) {
  const std::string& method = head.method;
  if (method.starts_with("textDocument/did")) return document_from_editor(head, std::move(body));
  if (method == "$/cancelRequest") return cancel_from_editor(head, std::move(body));
  if (method == "window/workDoneProgress/cancel") {
    const auto token = untagged(json_member(head.params, "token"));
    if (!token) return out_.to_server(std::move(body));
    if (profd_ == Profd::running)
      out_.to_profd(with_json_member(body, "params", with_json_member(head.params, "token", *token)));
    return;
  }
  if (method == "initialized") {
    editor_initialized_ = true;
    out_.to_server(std::move(body));
    start_profd();
    if (!unsaid_.empty()) show_message(std::exchange(unsaid_, {}));
    return;
  }
  std::string for_profd;
  if (method == "workspace/didChangeConfiguration") {
    const std::string_view own = json_member(json_member(head.params, "settings"), "profd");
    if (!own.empty())
      configuration_ = for_profd =
          protocol::notification_text(method, "{\"settings\":{\"profd\":" + std::string(own) + "}}");
  } else if (method == "workspace/didChangeWorkspaceFolders") {
    for_profd = body;
    if (folder_changes_.size() < kMaxFolderChanges) folder_changes_.push_back(body);
  } else if (method == "exit") {
    exited_ = true;
    for_profd = body;
  }
  out_.to_server(std::move(body));
  if (!for_profd.empty() && profd_ == Profd::running) out_.to_profd(std::move(for_profd));
}

void Proxy::document_from_editor(const MessageHead& head, std::string body) {
  const std::string_view uri = uri_asked_about(head.params);
  if (is_of_profd(uri)) {
    if (profd_ == Profd::running) out_.to_profd(std::move(body));
    return;
  }
  bool server = true;
  if (head.method == "textDocument/didOpen") {
    server = can_.sync.open_close;
    documents_.did_open(head.params);
  } else if (head.method == "textDocument/didChange") {
    server = can_.sync.change;
    documents_.did_change(head.params, encoding_);
  } else if (head.method == "textDocument/didClose") {
    server = can_.sync.open_close;
    documents_.did_close(head.params);
    pulled_.closed(uri);
  } else if (head.method == "textDocument/didSave") {
    server = can_.sync.save;
  }
  std::string for_profd = profd_ == Profd::running ? body : std::string();
  if (server) out_.to_server(std::move(body));
  if (!for_profd.empty()) out_.to_profd(std::move(for_profd));
}

void Proxy::cancel_from_editor(const MessageHead& head, std::string body) {
  const auto id = protocol::request_id_of(json_member(head.params, "id"));
  const auto found = id ? pending_.find(*id) : pending_.end();
  if (found == pending_.end()) return out_.to_server(std::move(body));
  if (found->second.profd && profd_ == Profd::running) out_.to_profd(body);
  if (found->second.server) out_.to_server(std::move(body));
}

void Proxy::answer_from_editor(const MessageHead& head, std::string body) {
  const auto own = untagged(head.id);
  if (!own) return out_.to_server(std::move(body));
  const auto number = protocol::request_id_of(*own);
  const auto found =
      number && number->number() ? asked_by_profd_.find(*number->number()) : asked_by_profd_.end();
  if (found == asked_by_profd_.end()) return;  // asked by the proxy itself, or by a daemon that ended
  const std::string answer = with_json_member(body, "id", found->second);
  asked_by_profd_.erase(found);
  if (profd_ == Profd::running) out_.to_profd(answer);
}

}  // namespace profd
