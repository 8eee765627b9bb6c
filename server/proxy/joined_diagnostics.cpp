#include "server/proxy/joined_diagnostics.h"

#include <utility>

#include "protocol/json_spans.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

using protocol::is_json_array;
using protocol::joined_json_arrays;
using protocol::json_member;
using protocol::json_string;
using protocol::JsonItems;
using protocol::with_json_member;

std::string_view diagnostics_in(std::string_view body) {
  return json_member(json_member(body, "params"), "diagnostics");
}

bool says_something(std::string_view body) {
  return JsonItems(diagnostics_in(body)).next().has_value();
}

// Two spellings of one file are one document. "" where the message names none.
std::string document_of(std::string_view body) {
  const auto uri = json_string(json_member(json_member(body, "params"), "uri"));
  if (!uri) return {};
  auto path = path_of_uri(*uri);
  return path ? std::move(*path) : *uri;
}

}  // namespace

std::string JoinedDiagnostics::joined(const std::string& server, const std::string& profd) {
  const std::string_view params = json_member(server, "params");
  const std::string all = joined_json_arrays(diagnostics_in(server), diagnostics_in(profd));
  return with_json_member(server, "params", with_json_member(params, "diagnostics", all));
}

std::string JoinedDiagnostics::from_server(std::string body) {
  const std::string document = document_of(body);
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
  const std::string document = document_of(body);
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

std::vector<std::string> JoinedDiagnostics::without_profd() {
  std::vector<std::string> out;
  for (auto& [document, both] : of_) {
    if (both.profd.empty()) continue;
    if (!both.server.empty()) {
      out.push_back(both.server);
    } else {
      const std::string_view params = json_member(both.profd, "params");
      out.push_back(with_json_member(both.profd, "params", with_json_member(params, "diagnostics", "[]")));
    }
    both.profd.clear();
  }
  std::erase_if(of_, [](const auto& one) { return one.second.server.empty(); });
  return out;
}

}  // namespace profd
