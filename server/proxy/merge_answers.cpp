#include "server/proxy/merge_answers.h"

#include <utility>

#include "protocol/json_spans.h"

namespace profd {
namespace {

using protocol::is_json_array;
using protocol::is_json_nothing;
using protocol::is_json_object;
using protocol::joined_json_arrays;
using protocol::json_member;
using protocol::json_string;
using protocol::JsonItems;
using protocol::with_json_member;
using protocol::without_json_member;

constexpr std::string_view kProxyMark = "profdProxy";
constexpr std::string_view kBetweenHovers = R"(\n\n---\n\n)";

// The text of a hover of profd, as the inside of a JSON string.
std::string_view own_hover_text(std::string_view hover) {
  const std::string_view value = json_member(json_member(hover, "contents"), "value");
  return value.size() > 2 && value.front() == '"' ? value.substr(1, value.size() - 2) : std::string_view();
}

std::optional<std::string> merged_hover(std::string_view server, std::string_view profd) {
  const std::string_view text = own_hover_text(profd);
  if (text.empty()) return std::nullopt;
  if (is_json_nothing(server)) return std::string(profd);
  const std::string_view contents = json_member(server, "contents");
  const std::string own = '"' + std::string(text) + '"';
  if (is_json_array(contents))
    return with_json_member(server, "contents", joined_json_arrays(contents, "[" + own + "]"));
  const std::string_view value = json_member(contents, "value");
  if (is_json_object(contents) && json_member(contents, "kind").empty())  // a text of a language
    return with_json_member(server, "contents", "[" + std::string(contents) + "," + own + "]");
  if (is_json_object(contents) && value.starts_with('"')) {
    std::string joined(value.substr(0, value.size() - 1));
    if (value.size() > 2) joined += kBetweenHovers;
    joined += text;
    joined += '"';
    return with_json_member(server, "contents", with_json_member(contents, "value", joined));
  }
  if (contents.starts_with('"'))
    return with_json_member(server, "contents", "[" + std::string(contents) + "," + own + "]");
  return std::nullopt;
}

std::string member_text(std::string_view key, std::string_view value) {
  return value.empty() ? std::string() : ",\"" + std::string(key) + "\":" + std::string(value);
}

// A symbol in the other of the two shapes that LSP has for those of a document; they must not be mixed.
std::string as_information(std::string_view symbol, std::string_view uri) {
  return "{\"name\":" + std::string(json_member(symbol, "name")) +
         member_text("kind", json_member(symbol, "kind")) + ",\"location\":{\"uri\":" + std::string(uri) +
         member_text("range", json_member(symbol, "range")) + "}}";
}
std::string as_document_symbol(std::string_view symbol) {
  const std::string_view range = json_member(json_member(symbol, "location"), "range");
  return "{\"name\":" + std::string(json_member(symbol, "name")) +
         member_text("kind", json_member(symbol, "kind")) + member_text("range", range) +
         member_text("selectionRange", range) + "}";
}

std::string in_shape_of(std::string_view first, std::string_view symbols, std::string_view uri) {
  const bool information = !json_member(first, "location").empty();
  std::string out = "[";
  JsonItems items(symbols);
  while (const auto item = items.next()) {
    if (out.size() > 1) out += ',';
    if (information == !json_member(*item, "location").empty())
      out += *item;
    else
      out += information ? as_information(*item, uri) : as_document_symbol(*item);
  }
  return out + "]";
}

std::string marked_item(std::string_view item, std::string_view tag) {
  std::string mark = "{\"" + std::string(kProxyMark) + "\":\"" + std::string(tag) + '"';
  mark += member_text("data", json_member(item, "data")) + "}";
  return with_json_member(item, "data", mark);
}

// What a person tells the two hierarchies apart by, where both have one.
std::string titled(const std::string& item) {
  const std::string_view name = json_member(item, "name");
  if (name.size() < 2 || name.find("profd") != name.npos) return item;
  return with_json_member(item, "name", std::string(name.substr(0, name.size() - 1)) + " (profd)\"");
}

}  // namespace

std::optional<std::string> merged_result(MergeKind kind, std::string_view server, std::string_view profd,
                                         std::string_view uri) {
  if (is_json_nothing(profd)) return std::nullopt;
  if (kind == MergeKind::hover) return merged_hover(server, profd);
  if (!is_json_array(profd) || !JsonItems(profd).next()) return std::nullopt;
  if (!is_json_nothing(server) && !is_json_array(server)) return std::nullopt;
  const auto first = JsonItems(server).next();
  if (kind == MergeKind::symbols && first) return joined_json_arrays(server, in_shape_of(*first, profd, uri));
  return joined_json_arrays(server, profd);
}

std::string marked_result(std::string_view method, std::string_view result, std::string_view tag) {
  std::string_view inside;  // the member that is the item
  if (method == "callHierarchy/incomingCalls")
    inside = "from";
  else if (method == "callHierarchy/outgoingCalls")
    inside = "to";
  const bool titles = method == "textDocument/prepareCallHierarchy";
  const MergedMethod* const merged = merged_method(method);
  if (inside.empty() && !titles && (merged == nullptr || merged->resolve.empty())) return std::string(result);
  if (!is_json_array(result)) return std::string(result);
  std::string out = "[";
  JsonItems items(result);
  while (const auto item = items.next()) {
    if (out.size() > 1) out += ',';
    const std::string_view target = inside.empty() ? *item : json_member(*item, inside);
    const bool is_command = json_member(target, "command").starts_with('"');  // it has no data
    if (!is_json_object(target) || is_command) {
      out += *item;
      continue;
    }
    const std::string marked = marked_item(target, tag);
    out += inside.empty() ? (titles ? titled(marked) : marked) : with_json_member(*item, inside, marked);
  }
  return out + "]";
}

std::optional<std::string> unmarked_item(std::string_view item, std::string_view tag) {
  const std::string_view data = json_member(item, "data");
  if (!is_json_object(data) || json_string(json_member(data, kProxyMark)) != tag) return std::nullopt;
  const std::string_view own = json_member(data, "data");
  return own.empty() ? without_json_member(item, "data") : with_json_member(item, "data", own);
}

}  // namespace profd
