#include "server/proxy/joined_diagnostics.h"

#include <utility>

#include "protocol/json_spans.h"
#include "server/proxy/diagnostics_text.h"

namespace profd {
namespace {

using protocol::is_json_array;
using protocol::joined_json_arrays;
using protocol::json_member;
using protocol::with_json_member;

bool says_something(std::string_view body) {
  return protocol::JsonItems(diagnostics_in(body)).next().has_value();
}

}  // namespace

std::string JoinedDiagnostics::joined(const std::string& server, const std::string& profd) {
  const std::string_view params = json_member(server, "params");
  const std::string all = joined_json_arrays(diagnostics_in(server), diagnostics_in(profd));
  return with_json_member(server, "params", with_json_member(params, "diagnostics", all));
}

std::string JoinedDiagnostics::from_server(std::string body) {
  const std::string document = document_published(body);
  if (document.empty() || !is_json_array(diagnostics_in(body))) return body;
  Both& both = of_[document];
  bytes_ -= both.server.size();
  both.server.clear();
  std::string out = both.profd.empty() ? std::string() : joined(body, both.profd);
  if (says_something(body)) {
    if (bytes_ + body.size() <= kMaxBytes) {
      both.server = body;
      bytes_ += body.size();
    } else {
      lossy_ = true;
    }
  }
  if (both.server.empty() && both.profd.empty()) of_.erase(document);
  return out.empty() ? std::move(body) : out;
}

std::optional<std::string> JoinedDiagnostics::from_profd(std::string body) {
  const std::string document = document_published(body);
  if (document.empty() || !is_json_array(diagnostics_in(body))) return std::nullopt;
  const auto found = of_.find(document);
  const bool kept = found != of_.end() && !found->second.server.empty();
  if (!kept && lossy_) return std::nullopt;
  Both& both = of_[document];
  both.profd = says_something(body) ? body : std::string();
  std::string out = kept ? joined(both.server, body) : std::move(body);
  if (both.server.empty() && both.profd.empty()) of_.erase(document);
  return out;
}

std::optional<JoinedDiagnostics::HandedOver> JoinedDiagnostics::hand_over(const std::string& document) {
  const auto found = of_.find(document);
  if (found == of_.end() || found->second.profd.empty()) return std::nullopt;
  HandedOver out;
  out.profd = found->second.profd;
  out.left = found->second.server.empty() ? without_diagnostics(out.profd) : found->second.server;
  found->second.profd.clear();
  if (found->second.server.empty()) of_.erase(found);
  return out;
}

std::vector<std::string> JoinedDiagnostics::without_profd() {
  std::vector<std::string> out;
  for (auto& [document, both] : of_) {
    if (both.profd.empty()) continue;
    out.push_back(both.server.empty() ? without_diagnostics(both.profd) : both.server);
    both.profd.clear();
  }
  std::erase_if(of_, [](const auto& one) { return one.second.server.empty(); });
  return out;
}

}  // namespace profd
