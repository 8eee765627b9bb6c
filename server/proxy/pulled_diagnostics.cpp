#include "server/proxy/pulled_diagnostics.h"

#include <charconv>
#include <utility>

#include "protocol/json_spans.h"
#include "server/proxy/diagnostics_text.h"

namespace profd {
namespace {

using protocol::is_json_object;
using protocol::json_member;
using protocol::with_json_member;

constexpr std::string_view kPrevious = "previousResultId";

std::string document_asked(std::string_view params) {
  return document_of_uri(json_member(json_member(params, "textDocument"), "uri"));
}

bool is_json_text(std::string_view value) {
  return value.size() >= 2 && value.front() == '"' && value.back() == '"';
}

}  // namespace

std::string PulledDiagnostics::tagged(std::uint64_t number, std::string_view id) const {
  return '"' + tag_ + ':' + std::to_string(number) + ':' + std::string(id.substr(1));
}

std::optional<PulledDiagnostics::Tagged> PulledDiagnostics::untagged(std::string_view id) const {
  const std::string begin = '"' + tag_ + ':';
  if (!is_json_text(id) || !id.starts_with(begin)) return std::nullopt;
  const std::string_view rest = id.substr(begin.size());
  Tagged out;
  const auto [end, wrong] = std::from_chars(rest.data(), rest.data() + rest.size(), out.number);
  if (wrong != std::errc() || *end != ':') return std::nullopt;
  out.id = '"' + std::string(rest.substr(static_cast<std::size_t>(end - rest.data()) + 1));
  return out;
}

bool PulledDiagnostics::begin(std::string_view params) {
  const std::string document = document_asked(params);
  if (document.empty() || of_.size() >= kMaxDocuments || of_.contains(document)) return false;
  of_[document].identifier = json_member(params, "identifier");
  return true;
}

PulledDiagnostics::Document* PulledDiagnostics::shown_by(const std::string& document,
                                                         std::string_view identifier) {
  const auto found = of_.find(document);
  return found == of_.end() || found->second.identifier != identifier ? nullptr : &found->second;
}

PulledDiagnostics::Asked PulledDiagnostics::asked(std::string_view params) const {
  Asked out{document_asked(params), std::string(json_member(params, "identifier")), 0, std::nullopt};
  const std::string_view previous = json_member(params, kPrevious);
  if (previous.empty()) return out;
  const auto own = untagged(previous);
  const auto found = of_.find(out.document);
  const bool shows = found != of_.end() && found->second.identifier == out.identifier;
  out.known = own ? own->number : 0;
  if (out.known != (shows ? found->second.number : 0))
    out.params = protocol::without_json_member(params, kPrevious);
  else if (own)
    out.params = with_json_member(params, kPrevious, own->id);
  return out;
}

std::optional<std::string> PulledDiagnostics::workspace_asked(std::string_view params) const {
  constexpr std::string_view kKnown = "previousResultIds";
  std::string known = "[";
  bool any = false;
  protocol::JsonItems items(json_member(params, kKnown));
  while (const auto item = items.next()) {
    if (known.size() > 1) known += ',';
    const auto own = untagged(json_member(*item, "value"));
    any = any || own;
    known += own ? with_json_member(*item, "value", own->id) : std::string(*item);
  }
  if (!any) return std::nullopt;
  return with_json_member(params, kKnown, known + "]");
}

// `known`: what the editor has of profd where the report says that nothing changed.
std::optional<std::string> PulledDiagnostics::with_profd(Document& document, std::uint64_t known,
                                                         std::string_view report) const {
  const std::string_view kind = json_member(report, "kind"), id = json_member(report, "resultId");
  if (kind == "\"unchanged\"") {
    if (known == 0 || !is_json_text(id)) return std::nullopt;
    return with_json_member(report, "resultId", tagged(known, id));
  }
  const std::string_view items = json_member(report, "items");
  // gopls 0.23 says no kind of reports that are whole.
  if (!protocol::is_json_array(items)) return std::nullopt;
  document.told = document.number;
  if (document.number == 0) return std::nullopt;
  std::string out =
      with_json_member(report, "items", protocol::joined_json_arrays(items, diagnostics_in(document.profd)));
  // `id` is a view into the report, not into this.
  return is_json_text(id) ? with_json_member(out, "resultId", tagged(document.number, id)) : out;
}

std::optional<std::string> PulledDiagnostics::answered(const Asked& asked, std::string_view report) {
  if (!is_json_object(report)) return std::nullopt;
  std::optional<std::string> out;
  if (Document* const document = shown_by(asked.document, asked.identifier))
    out = with_profd(*document, asked.known, report);
  const std::string_view related = json_member(report, "relatedDocuments");
  std::string all = "{";
  bool any = false;
  protocol::JsonMembers others(related);
  while (const auto other = others.next()) {
    const std::string uri = '"' + std::string(other->key) + '"';
    Document* const document = shown_by(document_of_uri(uri), asked.identifier);
    const auto own = document ? with_profd(*document, document->told, other->value) : std::nullopt;
    any = any || own;
    if (all.size() > 1) all += ',';
    all += uri + ':' + (own ? *own : std::string(other->value));
  }
  if (any) out = with_json_member(out ? *out : report, "relatedDocuments", all + "}");
  return out;
}

PulledDiagnostics::Taken PulledDiagnostics::from_profd(const std::string& body) {
  const auto found = of_.find(document_published(body));
  if (found == of_.end()) return Taken::no;
  Document& document = found->second;
  const bool some = protocol::JsonItems(diagnostics_in(body)).next().has_value();
  const std::string_view now = some ? diagnostics_in(body) : std::string_view();
  if (now == diagnostics_in(document.profd)) return Taken::same;
  document.profd = some ? body : std::string();
  document.number = some ? ++last_ : 0;
  return Taken::changed;
}

bool PulledDiagnostics::without_profd() {
  bool any = false;
  for (auto& [name, document] : of_) {
    any = any || document.number != 0;
    document.profd.clear();
    document.number = 0;
  }
  return any;
}

void PulledDiagnostics::closed(std::string_view uri) {
  of_.erase(document_of_uri(uri));
}

std::vector<std::string> PulledDiagnostics::end() {
  std::vector<std::string> out;
  for (auto& [name, document] : std::exchange(of_, {}))
    if (!document.profd.empty()) out.push_back(std::move(document.profd));
  return out;
}

}  // namespace profd
