#include "server/proxy/diagnostics_text.h"

#include <utility>

#include "protocol/json_spans.h"
#include "server/engine/uri.h"

namespace profd {

using protocol::json_member;
using protocol::with_json_member;

std::string document_of_uri(std::string_view uri) {
  auto text = protocol::json_string(uri);
  if (!text) return {};
  auto path = path_of_uri(*text);
  return path ? std::move(*path) : std::move(*text);
}

std::string document_published(std::string_view body) {
  return document_of_uri(json_member(json_member(body, "params"), "uri"));
}

std::string_view diagnostics_in(std::string_view body) {
  return json_member(json_member(body, "params"), "diagnostics");
}

std::string without_diagnostics(std::string_view body) {
  const std::string_view params = json_member(body, "params");
  return with_json_member(body, "params", with_json_member(params, "diagnostics", "[]"));
}

}  // namespace profd
