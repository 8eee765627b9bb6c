// What the wrapped server says.
#include <utility>

#include "protocol/json_spans.h"
#include "protocol/message.h"
#include "server/proxy/proxy.h"

namespace profd {
namespace {

using protocol::json_member;
using protocol::with_json_member;

constexpr std::size_t kMaxSwallowed = 10'000;

}  // namespace

void Proxy::from_server(std::string body, ProxyClock::time_point now) {
  const MessageHead head = read_head(body);
  if (head.method == "textDocument/publishDiagnostics")
    return out_.to_editor(diagnostics_.from_server(std::move(body)));
  if (head.method == "client/registerCapability") return register_from_server(head, std::move(body));
  if (head.method == "client/unregisterCapability") return unregister_from_server(head, std::move(body));
  if (head.method == "$/progress") return progress_from_server(head, std::move(body));
  if (!head.method.empty() || head.id.empty()) return out_.to_editor(std::move(body));
  const auto id = protocol::request_id_of(head.id);
  const auto found = id ? pending_.find(*id) : pending_.end();
  if (found == pending_.end() || !found->second.server || found->second.answer)
    return out_.to_editor(std::move(body));
  Pending& pending = found->second;
  const bool failed = !protocol::is_json_nothing(head.error);
  if (pending.method == "initialize" && !failed) {
    pending_.erase(found);
    return initialized_by_server(std::move(body), now);
  }
  if (failed || !pending.profd) {
    if (!failed && pending.asked)
      if (const auto all = pulled_.answered(*pending.asked, head.result))
        body = with_json_member(body, "result", *all);
    pending_.erase(found);
    return out_.to_editor(std::move(body));
  }
  pending.answer = std::move(body);
  pending.deadline = now + options_.patience;
  if (pending.result) finish(found);
}

void Proxy::initialized_by_server(std::string body, ProxyClock::time_point now) {
  const std::string_view result = json_member(body, "result");
  const std::string_view encoding = json_member(json_member(result, "capabilities"), "positionEncoding");
  if (encoding == "\"utf-8\"" || encoding == "\"utf-32\"") {
    encoding_name_ = encoding;
    encoding_ = encoding == "\"utf-8\"" ? PositionEncoding::utf8 : PositionEncoding::utf32;
  }
  initialize_answer_ = std::move(body);
  waits_to_answer_ = true;
  first_deadline_ = now + options_.patience;
  if (!profd_comes_) return answer_initialize();
  ask_profd_to_initialize();
}

// With what profd can, where it has said so by now.
void Proxy::answer_initialize() {
  if (answered_initialize_ || initialize_answer_.empty()) return;
  answered_initialize_ = true;
  waits_to_answer_ = false;
  MergedInitialize merged = merge_initialize(json_member(initialize_answer_, "result"), profd_initialized_);
  can_ = std::move(merged.abilities);
  opens_for_profd_ = !can_.sync.open_close;
  if (profd_initialized_.empty()) {
    can_.sync = {true, true, true};
    return out_.to_editor(initialize_answer_);
  }
  out_.to_editor(with_json_member(initialize_answer_, "result", merged.result));
}

// Whether the editor asks for it already: told once more it would ask twice.
bool Proxy::swallows(std::string_view registration) {
  const auto method = protocol::json_string(json_member(registration, "method"));
  if (!method || profd_initialized_.empty()) return false;
  bool swallowed = false;
  const auto wanted = [&](bool& now) { swallowed = !std::exchange(now, true); };
  if (*method == "textDocument/didOpen" || *method == "textDocument/didClose") {
    // Two methods and one wish: the second is no news, and is not for the editor either.
    swallowed = opens_for_profd_;
    can_.sync.open_close = true;
  } else if (*method == "textDocument/didChange") {
    wanted(can_.sync.change);
  } else if (*method == "textDocument/didSave") {
    wanted(can_.sync.save);
  } else if (const MergedMethod* const merged = merged_method(*method)) {
    can_.server.insert(*method);
    if (json_member(json_member(registration, "registerOptions"), "resolveProvider") == "true")
      can_.server.emplace(merged->resolve);
    swallowed = can_.profd_alone.contains(*method);
  }
  if (!swallowed || swallowed_.size() >= kMaxSwallowed) return false;
  swallowed_.emplace(json_member(registration, "id"));
  return true;
}

void Proxy::register_from_server(const MessageHead& head, std::string body) {
  std::string left = "[";
  bool any_swallowed = false;
  protocol::JsonItems items(json_member(head.params, "registrations"));
  while (const auto item = items.next()) {
    if (swallows(*item)) {
      any_swallowed = true;
      continue;
    }
    if (left.size() > 1) left += ',';
    left += *item;
  }
  if (!any_swallowed) return out_.to_editor(std::move(body));
  const auto id = protocol::request_id_of(head.id);
  if (left.size() == 1 && id) return out_.to_server(protocol::result_text(*id, "null"));
  out_.to_editor(
      with_json_member(body, "params", with_json_member(head.params, "registrations", left + "]")));
}

void Proxy::unregister_from_server(const MessageHead& head, std::string body) {
  constexpr std::string_view kItems = "unregisterations";  // as LSP spells it
  std::string left = "[";
  bool any_swallowed = false;
  protocol::JsonItems items(json_member(head.params, kItems));
  while (const auto item = items.next()) {
    const auto method = protocol::json_string(json_member(*item, "method"));
    if (method && merged_method(*method) != nullptr) can_.server.erase(*method);
    if (method == "textDocument/diagnostic") diagnostics_no_longer_asked();
    if (const auto own = swallowed_.find(json_member(*item, "id")); own != swallowed_.end()) {
      swallowed_.erase(own);
      any_swallowed = true;
      continue;
    }
    if (left.size() > 1) left += ',';
    left += *item;
  }
  if (!any_swallowed) return out_.to_editor(std::move(body));
  const auto id = protocol::request_id_of(head.id);
  if (left.size() == 1 && id) return out_.to_server(protocol::result_text(*id, "null"));
  out_.to_editor(with_json_member(body, "params", with_json_member(head.params, kItems, left + "]")));
}

void Proxy::progress_from_server(const MessageHead& head, std::string body) {
  const std::string_view token = json_member(head.params, "token");
  for (auto& [id, pending] : pending_) {
    if (pending.partial_token.empty() || pending.partial_token != token) continue;
    pending.partial_seen = true;
    if (!pending.asked) continue;
    if (const auto part = pulled_.answered(*pending.asked, json_member(head.params, "value"))) {
      const std::string params = with_json_member(head.params, "value", *part);
      return out_.to_editor(with_json_member(body, "params", params));
    }
  }
  out_.to_editor(std::move(body));
}

void Proxy::server_gone(const std::string& why) {
  PendingMap pending = std::exchange(pending_, {});
  for (auto& [id, one] : pending) {
    if (one.answer) {
      out_.to_editor(std::move(*one.answer));
    } else if (one.server) {
      out_.to_editor(
          protocol::error_text(id, protocol::ResponseError(psp::ErrorCodes::request_failed, why, {})));
    } else {
      pending_.emplace(id, std::move(one));
    }
  }
}

}  // namespace profd
