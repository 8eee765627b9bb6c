// Diagnostics: those that are pushed are one list; those that are asked for are the wrapped server's report
// with profd's in it, where the editor can be told to ask again.
#include <utility>

#include "protocol/json_spans.h"
#include "server/proxy/proxy.h"

namespace profd {

using protocol::json_member;
using protocol::with_json_member;

// Without a way to have it ask again, what it asked for would stay: profd's are pushed then.
bool Proxy::editor_asks_again() const {
  const std::string_view capabilities = json_member(initialize_, "capabilities");
  return json_member(json_member(json_member(capabilities, "workspace"), "diagnostics"), "refreshSupport") ==
         "true";
}

void Proxy::ask_for_diagnostics(const MessageHead& head, protocol::RequestId id, std::string body) {
  told_to_ask_ = false;
  Pending pending;
  pending.method = head.method;
  pending.server = true;
  pending.partial_token = json_member(head.params, "partialResultToken");
  if (editor_asks_again()) {
    const bool begins = pulled_.begin(head.params);
    if (begins) {
      // What was pushed until now would be there twice.
      if (auto over = diagnostics_.hand_over(pulled_.asked(head.params).document)) {
        pulled_.from_profd(over->profd);
        out_.to_editor(std::move(over->left));
      }
    }
    pending.asked = pulled_.asked(head.params);
    if (pending.asked->params) body = with_json_member(body, "params", *pending.asked->params);
  }
  pending_.insert_or_assign(std::move(id), std::move(pending));
  out_.to_server(std::move(body));
}

void Proxy::ask_for_workspace_diagnostics(const MessageHead& head, protocol::RequestId id, std::string body) {
  told_to_ask_ = false;
  if (const auto params = pulled_.workspace_asked(head.params))
    body = with_json_member(body, "params", *params);
  ask_server(std::move(id), head.method, std::move(body));
}

void Proxy::diagnostics_from_profd(std::string body) {
  switch (pulled_.from_profd(body)) {
    case PulledDiagnostics::Taken::same:
      return;
    case PulledDiagnostics::Taken::changed:
      return have_diagnostics_asked_again();
    case PulledDiagnostics::Taken::no:
      if (auto joined = diagnostics_.from_profd(std::move(body))) out_.to_editor(std::move(*joined));
  }
}

// Once for all that changes until it asks.
void Proxy::have_diagnostics_asked_again() {
  if (!std::exchange(told_to_ask_, true)) ask_editor("workspace/diagnostic/refresh");
}

void Proxy::diagnostics_without_profd() {
  for (std::string& body : diagnostics_.without_profd()) out_.to_editor(std::move(body));
  if (pulled_.without_profd()) have_diagnostics_asked_again();
}

void Proxy::diagnostics_no_longer_asked() {
  for (std::string& body : pulled_.end()) diagnostics_from_profd(std::move(body));
}

}  // namespace profd
