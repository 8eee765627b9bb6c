#include "server/proxy/abilities.h"

#include <algorithm>
#include <array>

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

constexpr std::array<MergedMethod, 9> kMerged{{
    {"textDocument/hover", "hoverProvider", MergeKind::hover, "", ""},
    {"textDocument/inlayHint", "inlayHintProvider", MergeKind::items, "inlayHint/resolve",
     "workspace/inlayHint/refresh"},
    {"textDocument/codeLens", "codeLensProvider", MergeKind::items, "codeLens/resolve",
     "workspace/codeLens/refresh"},
    {"textDocument/codeAction", "codeActionProvider", MergeKind::items, "codeAction/resolve", ""},
    {"textDocument/documentSymbol", "documentSymbolProvider", MergeKind::symbols, "", ""},
    {"workspace/symbol", "workspaceSymbolProvider", MergeKind::items, "", ""},
    {"textDocument/prepareCallHierarchy", "callHierarchyProvider", MergeKind::items, "", ""},
    {"textDocument/documentLink", "documentLinkProvider", MergeKind::items, "documentLink/resolve", ""},
    {"textDocument/documentHighlight", "documentHighlightProvider", MergeKind::items, "", ""},
}};

bool resolves_items(std::string_view capability) {
  return is_json_object(capability) && json_member(capability, "resolveProvider") == "true";
}

// One provider that answers for both.
std::string merged_provider(std::string_view server, std::string_view profd) {
  if (is_json_nothing(server)) return std::string(profd);
  std::string out(server);
  if (resolves_items(profd) && !resolves_items(server))
    out = is_json_object(server) ? with_json_member(server, "resolveProvider", "true")
                                 : std::string(R"({"resolveProvider":true})");
  const std::string_view mine = json_member(profd, "codeActionKinds");
  const std::string_view theirs = json_member(server, "codeActionKinds");
  if (is_json_array(mine) && is_json_array(theirs))
    out = with_json_member(out, "codeActionKinds", joined_json_arrays(theirs, mine));
  return out;
}

std::string merged_sync(std::string_view server, std::string_view profd) {
  if (is_json_nothing(server) || server == "0")
    return is_json_object(profd) ? with_json_member(profd, "change", "1") : std::string(profd);
  if (!is_json_object(server)) return std::string(server);  // a number: opening, changes and saves are told
  std::string out(server);
  if (json_member(server, "openClose") != "true") out = with_json_member(out, "openClose", "true");
  // Whole texts are right for a server that registers for changes later, whatever it asks for then.
  const std::string_view change = json_member(server, "change");
  if (is_json_nothing(change) || change == "0") out = with_json_member(out, "change", "1");
  if (is_json_nothing(json_member(server, "save"))) out = with_json_member(out, "save", "true");
  return out;
}

SyncWants wants_of(std::string_view sync) {
  if (is_json_nothing(sync) || sync == "0") return {};
  if (!is_json_object(sync)) return {true, true, true};
  const std::string_view change = json_member(sync, "change");
  return {json_member(sync, "openClose") == "true", !is_json_nothing(change) && change != "0",
          !is_json_nothing(json_member(sync, "save"))};
}

std::string merged_commands(std::string_view server, std::string_view profd, MethodSet& own) {
  MethodSet theirs;
  JsonItems of_server(json_member(server, "commands"));
  while (const auto item = of_server.next())
    if (auto name = json_string(*item)) theirs.insert(std::move(*name));
  std::string added = "[";
  JsonItems of_profd(json_member(profd, "commands"));
  while (const auto item = of_profd.next()) {
    auto name = json_string(*item);
    if (!name || theirs.contains(*name)) continue;
    if (added.size() > 1) added += ',';
    added += *item;
    own.insert(std::move(*name));
  }
  const std::string all = joined_json_arrays(json_member(server, "commands"), added + "]");
  return with_json_member(is_json_object(server) ? server : "{}", "commands", all);
}

std::string merged_workspace(std::string_view server, std::string_view profd) {
  const std::string_view mine = json_member(profd, "textDocumentContent");
  if (is_json_nothing(mine)) return std::string(server);
  const std::string_view base = is_json_object(server) ? server : "{}";
  const std::string_view theirs = json_member(base, "textDocumentContent");
  if (!is_json_object(theirs)) return with_json_member(base, "textDocumentContent", mine);
  const std::string schemes =
      joined_json_arrays(json_member(theirs, "schemes"), json_member(mine, "schemes"));
  return with_json_member(base, "textDocumentContent", with_json_member(theirs, "schemes", schemes));
}

std::string merged_experimental(std::string_view server, std::string_view profd) {
  if (is_json_nothing(server)) return std::string(profd);
  const std::string_view mine = json_member(profd, "profd");
  if (!is_json_object(server) || mine.empty()) return std::string(server);
  return with_json_member(server, "profd", mine);
}

}  // namespace

std::span<const MergedMethod> merged_methods() {
  return kMerged;
}

const MergedMethod* merged_method(std::string_view method) {
  const auto found = std::find_if(kMerged.begin(), kMerged.end(),
                                  [&](const MergedMethod& one) { return one.method == method; });
  return found == kMerged.end() ? nullptr : &*found;
}

MergedInitialize merge_initialize(std::string_view server, std::string_view profd) {
  MergedInitialize out;
  const std::string_view theirs = json_member(server, "capabilities");
  const std::string_view mine = json_member(profd, "capabilities");
  std::string capabilities(is_json_object(theirs) ? theirs : "{}");
  const auto put = [&](std::string_view key, const std::string& value) {
    if (!value.empty() && value != json_member(capabilities, key))
      capabilities = with_json_member(capabilities, key, value);
  };
  Abilities& can = out.abilities;
  for (const MergedMethod& one : kMerged) {
    const std::string_view s = json_member(theirs, one.capability), p = json_member(mine, one.capability);
    if (!is_json_nothing(s)) can.server.emplace(one.method);
    if (resolves_items(s)) can.server.emplace(one.resolve);
    if (is_json_nothing(p)) continue;
    can.profd.emplace(one.method);
    if (resolves_items(p)) can.profd.emplace(one.resolve);
    if (is_json_nothing(s)) can.profd_alone.emplace(one.method);
    put(one.capability, merged_provider(s, p));
  }
  const std::string_view sync = json_member(theirs, "textDocumentSync");
  can.sync = wants_of(sync);
  if (is_json_object(mine)) {
    put("textDocumentSync", merged_sync(sync, json_member(mine, "textDocumentSync")));
    put("executeCommandProvider", merged_commands(json_member(theirs, "executeCommandProvider"),
                                                  json_member(mine, "executeCommandProvider"), can.commands));
    put("workspace", merged_workspace(json_member(theirs, "workspace"), json_member(mine, "workspace")));
    put("experimental",
        merged_experimental(json_member(theirs, "experimental"), json_member(mine, "experimental")));
    const std::string_view own = json_member(mine, "profd");
    put("profd", std::string(own));
    JsonItems methods(json_member(own, "methods"));
    while (const auto item = methods.next())
      if (auto name = json_string(*item)) can.native.insert(std::move(*name));
  }
  out.result = with_json_member(is_json_object(server) ? server : "{}", "capabilities", capabilities);
  return out;
}

}  // namespace profd
