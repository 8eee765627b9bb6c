// Functions of documents for editors without views: hierarchies of measured calls, symbols, actions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/support/base_name.h"
#include "server/dialect/psp/annotate_request.h"
#include "server/dialect/psp/module.h"
#include "server/dialect/psp/pages.h"
#include "server/engine/endpoint_origin.h"
#include "server/engine/uri.h"
#include "server/feature/call_hierarchy.h"
#include "server/feature/code_actions.h"
#include "server/feature/escape.h"
#include "server/feature/names.h"

namespace profd {
namespace {

using nlohmann::json;

psp::Range at_line(std::uint32_t line) {
  return {{line, 0}, {line, 0}};
}

// What an item says of itself when it is asked about again.
struct AskedItem {
  std::string profile;
  std::optional<std::uint32_t> revision;
  Key key = 0;
};

std::optional<AskedItem> asked_item(const psp::CallHierarchyItem& item) {
  if (!item.data || !(*item.data)->is_object()) return std::nullopt;
  const json& data = **item.data;
  const auto profile = data.find("profile"), revision = data.find("revision"), key = data.find("key");
  if (profile == data.end() || !profile->is_string() || revision == data.end() ||
      !revision->is_number_unsigned() || key == data.end() || !key->is_number_unsigned())
    return std::nullopt;
  const auto number = key->get<std::uint64_t>(), of = revision->get<std::uint64_t>();
  if (number >= kNone || of > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return AskedItem{profile->get<std::string>(), static_cast<std::uint32_t>(of), static_cast<Key>(number)};
}

// Where an item is that the workspace has no source of.
struct Elsewhere {
  std::string uri;  // "" in a page about it
  psp::Range range;
};

psp::CallHierarchyItem item_to_psp(const HierarchyItem& item, const OpenProfile& open,
                                   const Elsewhere& elsewhere) {
  psp::CallHierarchyItem out;
  out.name = sanitize_text(item.place.short_name);
  out.kind = psp::SymbolKind::function;
  out.detail = sanitize_text(item.detail);
  if (!item.place.path.empty()) {
    out.uri = uri_of_path(item.place.path);
    out.range = out.selection_range = at_line(item.line);
  } else if (!elsewhere.uri.empty()) {
    out.uri = elsewhere.uri;
    out.range = out.selection_range = elsewhere.range;
    *out.detail += " · no source here";
  } else {
    out.uri = page_uri(open.handle, PageKind::within, item.place.name);
  }
  out.data = psp::Any(json{{"profile", open.handle}, {"revision", open.revision}, {"key", item.place.key}});
  return out;
}

bool is_wanted(std::string_view kind, const std::optional<std::vector<std::string>>& only) {
  return !only || std::any_of(only->begin(), only->end(), [&](const std::string& one) {
    return one.empty() || kind == one || (kind.starts_with(one) && kind[one.size()] == '.');
  });
}

psp::Command command_of(const LineAction& action) {
  psp::Command command;
  command.title = "profd: " + sanitize_text(action.title);
  command.command = std::string(action.command);
  json arguments = json::object();
  for (const auto& [name, value] : action.arguments) arguments[std::string(name)] = value;
  command.arguments = std::vector<psp::Any>{psp::Any(std::move(arguments))};
  return command;
}

class HierarchyModule final : public Module {
 public:
  explicit HierarchyModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder& binder) override;
  void announce(psp::ServerCapabilities& capabilities, psp::ProfdServerCapabilities&) const override {
    if (session_.can.call_hierarchy) capabilities.call_hierarchy_provider = true;
    if (session_.can.document_symbols)
      capabilities.document_symbol_provider = psp::DocumentSymbolOptions{"profd"};
    if (session_.can.code_actions)
      capabilities.code_action_provider = psp::CodeActionOptions{std::vector<std::string>{"profd"}};
  }

 private:
  // Nothing: no profile annotates documents, or it is no file.
  [[nodiscard]] std::optional<AnnotateRequest> file_request(const std::string& uri) const {
    const OpenProfilePtr open = session_.meant_profile();
    if (!open || !session_.engine.attached(open->handle)) return std::nullopt;
    auto request = annotate_request(session_, open, uri);
    return request ? std::optional(std::move(*request)) : std::nullopt;
  }
  [[nodiscard]] OpenDocuments documents() const {
    return {session_.workspace.documents().begin(), session_.workspace.documents().end()};
  }
  template <class R, class Make>
  void answer_calls(const psp::CallHierarchyItem& item, Shape shape, protocol::Reply<R> reply, Make make);
  void prepare(const psp::CallHierarchyPrepareParams& params,
               protocol::Reply<psp::CallHierarchyPrepareRequest> reply);
  void symbols(const psp::DocumentSymbolParams& params, protocol::Reply<psp::DocumentSymbolRequest> reply);
  void actions(const psp::CodeActionParams& params, protocol::Reply<psp::CodeActionRequest> reply);

  SessionContext& session_;
};

void HierarchyModule::prepare(const psp::CallHierarchyPrepareParams& params,
                              protocol::Reply<psp::CallHierarchyPrepareRequest> reply) {
  auto request = file_request(params.text_document.uri);
  if (!request) return reply(std::nullopt);
  const Needs needs = needs_of_functions_at(*request);
  session_.answer_file<psp::CallHierarchyPrepareRequest>(
      std::move(reply), std::move(*request), needs,
      [line = params.position.line, documents = documents()](
          Views& views, const AnnotateRequest& asked,
          const StopToken& stop) -> Result<psp::CallHierarchyPrepareRequest::Result> {
        PROFD_TRY(const std::vector<HierarchyItem> roots,
                  hierarchy_roots(views, asked, line, documents, stop));
        if (roots.empty()) return psp::CallHierarchyPrepareRequest::Result(std::nullopt);
        std::vector<psp::CallHierarchyItem> items;
        for (const HierarchyItem& root : roots) items.push_back(item_to_psp(root, *asked.open, {}));
        return psp::CallHierarchyPrepareRequest::Result(std::move(items));
      });
}

// `make(item, lines)` is a call: of which function, and where.
template <class R, class Make>
void HierarchyModule::answer_calls(const psp::CallHierarchyItem& item, Shape shape, protocol::Reply<R> reply,
                                   Make make) {
  const auto asked = asked_item(item);
  if (!asked) return reply(std::nullopt);  // of another server, or what stands for those that were left out
  const auto open = session_.profile(asked->profile);
  if (!open) return reply.error(open.error());
  if (auto error = outdated(**open, asked->revision, "item")) return reply.error(*error);
  HierarchyRequest request;
  request.open = *open;
  request.workspace = session_.workspace.snapshot();
  request.documents = documents();
  request.spec.filters = session_.workspace.filters((*open)->uri);
  request.key = asked->key;
  request.shape = shape;
  session_.answer<R>(
      std::move(reply), std::move(request),
      [item, make, as_page = session_.can.text_content](Views& views, const HierarchyRequest& of,
                                                        const StopToken& stop) -> Result<typename R::Result> {
        PROFD_TRY(const CallHierarchy found, call_hierarchy(views, of, stop));
        const Elsewhere elsewhere{as_page ? "" : item.uri, item.selection_range};
        std::vector<std::decay_t<decltype(make(item, std::vector<psp::Range>()))>> calls;
        for (const HierarchyCall& call : found.calls) {
          psp::CallHierarchyItem other = item_to_psp(call.item, *of.open, elsewhere);
          std::vector<psp::Range> lines;
          for (const std::uint32_t line : call.lines) lines.push_back(at_line(line));
          if (lines.empty())
            lines.push_back(of.shape == Shape::callers ? other.selection_range : item.selection_range);
          calls.push_back(make(std::move(other), std::move(lines)));
        }
        if (!found.left.empty()) {
          psp::CallHierarchyItem rest = item;
          rest.name = found.left;
          rest.detail.reset();
          rest.data.reset();
          calls.push_back(make(std::move(rest), {item.selection_range}));
        }
        return typename R::Result(std::move(calls));
      });
}

// Hottest first.
void HierarchyModule::symbols(const psp::DocumentSymbolParams& params,
                              protocol::Reply<psp::DocumentSymbolRequest> reply) {
  auto request = file_request(params.text_document.uri);
  if (!request) return reply(std::nullopt);
  request->threshold = 0;
  const Needs needs = needs_of_functions(*request);
  session_.answer_file<psp::DocumentSymbolRequest>(
      std::move(reply), std::move(*request), needs,
      [nested = session_.can.nested_symbols, uri = params.text_document.uri](
          Views& views, const AnnotateRequest& asked,
          const StopToken& stop) -> Result<psp::DocumentSymbolRequest::Result> {
        PROFD_TRY(std::vector<FunctionCost> functions, annotate_functions(views, asked, stop));
        std::stable_sort(functions.begin(), functions.end(),
                         [](const FunctionCost& a, const FunctionCost& b) {
                           return std::abs(as_double(a.total)) > std::abs(as_double(b.total));
                         });
        std::vector<std::variant<psp::DocumentSymbol, psp::SymbolInformation>> symbols;
        for (const FunctionCost& function : functions) {
          const std::string name = sanitize_text(short_name(function.name));
          const std::string costs = sanitize_text(function.text);
          if (nested) {
            psp::DocumentSymbol symbol;
            symbol.name = name;
            symbol.detail = costs;
            symbol.kind = psp::SymbolKind::function;
            symbol.range = symbol.selection_range = at_line(function.line);
            symbols.emplace_back(std::move(symbol));
          } else {
            psp::SymbolInformation symbol;
            symbol.name = name + "  " + costs;
            symbol.kind = psp::SymbolKind::function;
            symbol.location = {uri, at_line(function.line)};
            symbol.container_name = sanitize_text(base_name(asked.path));
            symbols.emplace_back(std::move(symbol));
          }
        }
        return psp::DocumentSymbolRequest::Result(std::move(symbols));
      });
}

// Newest first: what can be one side of a comparison with `open`.
std::vector<ComparedWith> comparable(const ProfileListing& listing, const OpenProfile& open) {
  std::vector<ComparedWith> out;
  for (const ProfileEntry& entry : listing.rows()) {
    const OpenProfilePtr& other = entry.profile;
    if (!other || !entry.mine || other->handle == open.handle || other->profile->composition() != nullptr ||
        !other->profile->find_metric(open.metric_info().name))
      continue;
    out.push_back({other->handle, other->name});
  }
  std::reverse(out.begin(), out.end());
  return out;
}

void HierarchyModule::actions(const psp::CodeActionParams& params,
                              protocol::Reply<psp::CodeActionRequest> reply) {
  auto file = file_request(params.text_document.uri);
  if (!file) return reply(std::nullopt);
  const OpenProfilePtr open = file->open;
  ActionsRequest request;
  request.line = params.range.start.line;
  request.has_previous = session_.engine.previous(open->handle).has_value();
  request.records_again = !session_.setup.may_have_root && names_endpoint(open->uri);
  request.file = std::move(*file);
  const Needs needs = needs_of_functions_at(request.file);
  session_.run<psp::CodeActionRequest>(
      session_.engine.views().has(*open, needs), std::move(reply), open->place(),
      [&views = session_.engine.views(), request = std::move(request),
       listing = session_.engine.listing(session_.client), literals = session_.can.action_literals,
       only = params.context.only](const StopToken& stop) mutable -> Result<psp::CodeActionRequest::Result> {
        request.others = comparable(listing, *request.file.open);
        PROFD_TRY(const std::vector<LineAction> actions, code_actions(views, request, stop));
        std::vector<std::variant<psp::CodeAction, psp::Command>> out;
        for (const LineAction& action : actions) {
          if (!is_wanted(action.kind, only)) continue;
          psp::Command command = command_of(action);
          if (literals)
            out.emplace_back(psp::CodeAction{command.title, std::string(action.kind), std::move(command)});
          else
            out.emplace_back(std::move(command));
        }
        return psp::CodeActionRequest::Result(std::move(out));
      });
}

void HierarchyModule::bind(protocol::Binder& binder) {
  binder.request<psp::CallHierarchyPrepareRequest>(
      [this](const psp::CallHierarchyPrepareParams& params,
             protocol::Reply<psp::CallHierarchyPrepareRequest> reply) { prepare(params, std::move(reply)); });
  binder.request<psp::CallHierarchyIncomingCallsRequest>(
      [this](const psp::CallHierarchyIncomingCallsParams& params,
             protocol::Reply<psp::CallHierarchyIncomingCallsRequest> reply) {
        answer_calls<psp::CallHierarchyIncomingCallsRequest>(
            params.item, Shape::callers, std::move(reply),
            [](psp::CallHierarchyItem item, std::vector<psp::Range> lines) {
              return psp::CallHierarchyIncomingCall{std::move(item), std::move(lines)};
            });
      });
  binder.request<psp::CallHierarchyOutgoingCallsRequest>(
      [this](const psp::CallHierarchyOutgoingCallsParams& params,
             protocol::Reply<psp::CallHierarchyOutgoingCallsRequest> reply) {
        answer_calls<psp::CallHierarchyOutgoingCallsRequest>(
            params.item, Shape::callees, std::move(reply),
            [](psp::CallHierarchyItem item, std::vector<psp::Range> lines) {
              return psp::CallHierarchyOutgoingCall{std::move(item), std::move(lines)};
            });
      });
  binder.request<psp::DocumentSymbolRequest>(
      [this](const psp::DocumentSymbolParams& params, protocol::Reply<psp::DocumentSymbolRequest> reply) {
        symbols(params, std::move(reply));
      });
  binder.request<psp::CodeActionRequest>(
      [this](const psp::CodeActionParams& params, protocol::Reply<psp::CodeActionRequest> reply) {
        actions(params, std::move(reply));
      });
}

}  // namespace

std::unique_ptr<Module> make_hierarchy_module(SessionContext& session) {
  return std::make_unique<HierarchyModule>(session);
}

}  // namespace profd
