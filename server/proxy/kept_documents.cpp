#include "server/proxy/kept_documents.h"

#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "protocol/json_parse.h"
#include "protocol/json_spans.h"
#include "protocol/message.h"

namespace profd {
namespace {

using nlohmann::json;

std::string_view document_in(std::string_view params) {
  return protocol::json_member(params, "textDocument");
}

std::optional<TextPosition> position_in(const json& range, const char* end) {
  const auto at = range.find(end);
  if (at == range.end() || !at->is_object()) return std::nullopt;
  const auto line = at->find("line"), character = at->find("character");
  if (line == at->end() || !line->is_number_unsigned() || character == at->end() ||
      !character->is_number_unsigned())
    return std::nullopt;
  return TextPosition{line->get<std::uint32_t>(), character->get<std::uint32_t>()};
}

// False where it is no change.
bool apply_change(const json& change, PositionEncoding encoding, PieceText& text) {
  if (!change.is_object()) return false;
  const auto piece = change.find("text");
  if (piece == change.end() || !piece->is_string()) return false;
  const std::string& now = piece->get_ref<const std::string&>();
  const auto range = change.find("range");
  if (range == change.end() || !range->is_object()) {
    text = PieceText(now);
    return true;
  }
  const auto start = position_in(*range, "start"), end = position_in(*range, "end");
  if (!start || !end) return false;
  const std::size_t from = text.offset_of(*start, encoding), to = text.offset_of(*end, encoding);
  if (to < from) return false;
  text.replace(from, to, now);
  return true;
}

}  // namespace

void KeptDocuments::did_open(std::string_view params) {
  did_close(params);
  const std::string_view document = document_in(params);
  const auto text = protocol::json_string(protocol::json_member(document, "text"));
  const std::string_view uri = protocol::json_member(document, "uri");
  if (!text || uri.empty() || bytes_ + text->size() > kMaxBytes) return;
  Kept& kept = of_[std::string(uri)];
  kept.language = protocol::json_member(document, "languageId");
  kept.version = protocol::json_member(document, "version");
  kept.text = PieceText(*text);
  bytes_ += text->size();
}

void KeptDocuments::did_change(std::string_view params, PositionEncoding encoding) {
  const std::string_view document = document_in(params);
  const auto found = of_.find(protocol::json_member(document, "uri"));
  if (found == of_.end()) return;
  Kept& kept = found->second;
  bytes_ -= kept.text.size();
  const auto changes = protocol::parse_json(protocol::json_member(params, "contentChanges"));
  bool sound = changes && changes->is_array();
  if (sound)
    for (const json& change : *changes) sound = sound && apply_change(change, encoding, kept.text);
  kept.version = protocol::json_member(document, "version");
  // What it says now is not known: it is better not there than wrong.
  if (!sound || bytes_ + kept.text.size() > kMaxBytes)
    of_.erase(found);
  else
    bytes_ += kept.text.size();
}

void KeptDocuments::did_close(std::string_view params) {
  const auto found = of_.find(protocol::json_member(document_in(params), "uri"));
  if (found == of_.end()) return;
  bytes_ -= found->second.text.size();
  of_.erase(found);
}

std::vector<std::string> KeptDocuments::opening() const {
  std::vector<std::string> out;
  for (const auto& [uri, kept] : of_)
    out.push_back(protocol::notification_text(
        "textDocument/didOpen",
        fmt::format(R"({{"textDocument":{{"uri":{},"languageId":{},"version":{},"text":{}}}}})", uri,
                    kept.language.empty() ? "\"\"" : kept.language, kept.version.empty() ? "0" : kept.version,
                    protocol::dump_json(kept.text.text()))));
  return out;
}

}  // namespace profd
