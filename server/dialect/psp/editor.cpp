// What any LSP client gets: inlay hints, lenses, hovers, symbols.
#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "core/support/base_name.h"
#include "server/dialect/psp/annotate_request.h"
#include "server/dialect/psp/code_documents.h"
#include "server/dialect/psp/module.h"
#include "server/engine/uri.h"
#include "server/feature/code_lenses.h"
#include "server/feature/escape.h"
#include "server/feature/hover.h"
#include "server/feature/hover_text.h"
#include "server/feature/hover_tips.h"
#include "server/feature/names.h"
#include "server/feature/places.h"

namespace profd {
namespace {

constexpr std::size_t kMaxHints = 5000;
constexpr std::size_t kMaxAssemblyLenses = 200;
constexpr std::size_t kMaxSymbols = 200;
constexpr std::uint32_t kMaxCharacter = 0x7FFFFFFF;

psp::Range line_range(std::uint32_t line) {
  return {{line, 0}, {line, 0}};
}

std::vector<std::string> sanitized(const std::vector<std::string>& sentences) {
  std::vector<std::string> out;
  for (const std::string& sentence : sentences) out.push_back(sanitize_text(sentence));
  return out;
}

psp::HoverPage page_to_psp(const Hover& hover, const std::string& profile) {
  psp::HoverPage page;
  page.profile = profile;
  if (!hover.name.empty()) page.name = sanitize_text(hover.name);
  page.place = sanitize_text(hover.place);
  page.inlined = hover.inlined;
  page.others = static_cast<std::uint32_t>(hover.n_others);
  page.notes = sanitized(hover.notes);
  for (const HoverRow& row : hover.rows) {
    psp::HoverRow& out = page.rows.emplace_back();
    out.metric = sanitize_text(row.metric);
    out.self = row.self;
    out.total = row.total;
    out.share = row.share;
    if (row.change)
      out.change = psp::HoverChange{row.change->self_before, row.change->self_change,
                                    row.change->total_before, row.change->total_change};
  }
  page.remarks = sanitized(hover.remarks);
  for (const HoverList& list : hover.lists) {
    psp::HoverList& out = page.lists.emplace_back();
    out.title = hover_list_title(list, &sanitize_text);
    out.callers = list.callers;
    for (const HoverNeighbour& entry : list.entries) {
      psp::HoverNeighbour& neighbour = out.entries.emplace_back();
      neighbour.name = sanitize_text(entry.name);
      neighbour.share = entry.share;
      if (!entry.path.empty()) neighbour.uri = uri_of_path(entry.path);
      if (!entry.path.empty() && entry.line != 0) neighbour.line = entry.line;
    }
    out.more = static_cast<std::uint32_t>(list.n_more);
  }
  page.tips = sanitized(hover.tips);
  page.foot = sanitize_text(hover.foot);
  return page;
}

psp::MarkupContent contents_of(const Hover& hover, const Abilities& can) {
  return {can.markdown ? psp::MarkupKind::markdown : psp::MarkupKind::plaintext,
          can.markdown ? hover_markdown(hover, can.markdown_tables) : hover_plain_text(hover)};
}

// What a hint says of itself when it is asked about again.
struct HintPlace {
  std::string profile, uri;
  std::uint32_t revision = 0, line = 0;
};

std::optional<HintPlace> place_of_hint(const psp::InlayHint& hint) {
  if (!hint.data || !(*hint.data)->is_object()) return std::nullopt;
  const nlohmann::json& data = **hint.data;
  const auto text = [&](const char* name) {
    const auto found = data.find(name);
    return found != data.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto number = [&](const char* name) -> std::uint32_t {
    const auto found = data.find(name);
    if (found == data.end() || !found->is_number_unsigned()) return 0;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(found->get<std::uint64_t>(), kMaxCharacter));
  };
  return HintPlace{text("profile"), text("uri"), number("revision"), number("line")};
}

class EditorModule final : public Module {
 public:
  explicit EditorModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder& binder) override;
  void announce(psp::ServerCapabilities& capabilities, psp::ProfdServerCapabilities&) const override {
    capabilities.hover_provider = true;
    capabilities.code_lens_provider = psp::CodeLensOptions{true};
    if (resolves_hints())
      capabilities.inlay_hint_provider = psp::InlayHintOptions{true};
    else
      capabilities.inlay_hint_provider = true;
    capabilities.workspace_symbol_provider = true;
  }
  void refresh() override;

 private:
  // Nothing: no profile annotates documents, or it is no file.
  [[nodiscard]] std::optional<HoverRequest> hover_request(const std::string& uri, std::uint32_t line) const;
  [[nodiscard]] HoverTips tips_here() const {
    return {session_.workspace.sets(), tip_rules(session_.workspace.tips(), session_.workspace.tips_off())};
  }
  [[nodiscard]] bool resolves_hints() const {
    return session_.can.hint_tooltips || session_.can.hint_locations;
  }
  // What is asked for when a hint is shown: too much to be worked out for all of them.
  void resolve(psp::InlayHint hint, protocol::Reply<psp::InlayHintResolveRequest> reply);
  // A client that shows code by itself has no use for a lens that opens it.
  [[nodiscard]] bool shows_assembly_lenses() const {
    return session_.workspace.assembly_lens() && (!session_.can.native || session_.can.text_content);
  }
  // What annotates documents: the profile that is meant when it is attached. Null: nothing does.
  [[nodiscard]] OpenProfilePtr annotating() const;

  // What `write` makes of a document of code.
  template <class R, class Write>
  void answer_code(protocol::Reply<R> reply, CodeDocumentRequest request, Write write) {
    const std::string place = request.code.open->place();
    session_.run<R>(true, std::move(reply), place,
                    [&views = session_.engine.views(), request = std::move(request),
                     write = std::move(write)](const StopToken& stop) -> Result<typename R::Result> {
                      PROFD_TRY(const auto document, code_document_at(views, request, stop));
                      return write(*document);
                    });
  }

  SessionContext& session_;
  bool lenses_shown_ = false;  // the client may have some: it has to be told when they are turned off
};

OpenProfilePtr EditorModule::annotating() const {
  OpenProfilePtr open = session_.meant_profile();
  return open && session_.engine.attached(open->handle) ? open : nullptr;
}

std::optional<HoverRequest> EditorModule::hover_request(const std::string& uri, std::uint32_t line) const {
  const OpenProfilePtr open = annotating();
  if (!open) return std::nullopt;
  auto request = annotate_request(session_, open, uri);
  if (!request) return std::nullopt;
  HoverRequest hover;
  hover.file = std::move(*request);
  hover.line = line;
  if (!session_.setup.test_mode)
    hover.now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  return hover;
}

void EditorModule::refresh() {
  const auto ignore = [](const auto&) {};
  if (session_.can.hint_refresh) session_.peer->call<psp::InlayHintRefreshRequest>({}, ignore);
  const bool on = session_.workspace.code_lens() || shows_assembly_lenses();
  if (session_.can.lens_refresh && (std::exchange(lenses_shown_, on) || on))
    session_.peer->call<psp::CodeLensRefreshRequest>({}, ignore);
}

void EditorModule::resolve(psp::InlayHint hint, protocol::Reply<psp::InlayHintResolveRequest> reply) {
  const std::optional<HintPlace> place = place_of_hint(hint);
  const OpenProfilePtr open = annotating();
  // Of what is not shown any more, or of code: it has said what it says.
  if (!place || !open || place->profile != open->handle || place->revision != open->revision)
    return reply(std::move(hint));
  auto hover = hover_request(place->uri, place->line);
  if (!hover) return reply(std::move(hint));
  const Needs needs = needs_of(*hover);
  session_.answer_file<psp::InlayHintResolveRequest>(
      std::move(reply), std::move(*hover), needs,
      [hint = std::move(hint), can = session_.can, tips = tips_here()](
          Views& views, const HoverRequest& asked, const StopToken& stop) -> Result<psp::InlayHint> {
        PROFD_TRY(const std::optional<Hover> found, hover_with_tips(views, asked, tips, stop));
        psp::InlayHint out = hint;
        if (!found) return out;
        if (can.hint_tooltips) out.tooltip = contents_of(*found, can);
        auto* const parts = std::get_if<std::vector<psp::InlayHintLabelPart>>(&out.label);
        if (!can.hint_locations || parts == nullptr || parts->empty()) return out;
        for (const HoverList& list : found->lists)
          for (const HoverNeighbour& callee : list.entries)
            if (!list.callers && !callee.path.empty() && !parts->front().location)
              parts->front().location =
                  psp::Location{uri_of_path(callee.path), line_range(callee.line == 0 ? 0 : callee.line - 1)};
        return out;
      });
}

void EditorModule::bind(protocol::Binder& binder) {
  binder.request<psp::InlayHintResolveRequest>(
      [this](psp::InlayHint hint, protocol::Reply<psp::InlayHintResolveRequest> reply) {
        resolve(std::move(hint), std::move(reply));
      });
  binder.request<psp::InlayHintRequest>(
      [this](const psp::InlayHintParams& params, protocol::Reply<psp::InlayHintRequest> reply) {
        if (auto code = code_document_request(session_, params.text_document.uri)) {
          if (code->costs) return reply(std::nullopt);
          return answer_code<psp::InlayHintRequest>(
              std::move(reply), std::move(*code),
              [range = params.range, encoding = session_.encoding](const CodeDocument& document) {
                return psp::InlayHintRequest::Result(hints_to_psp(document, range, encoding));
              });
        }
        const OpenProfilePtr open = annotating();
        if (!open || !session_.workspace.inlay_hints()) return reply(std::nullopt);
        auto request = annotate_request(session_, open, params.text_document.uri);
        if (!request) return reply(std::nullopt);  // untitled: and the like
        const Needs needs = needs_of_lines(*request);
        session_.answer_file<psp::InlayHintRequest>(
            std::move(reply), std::move(*request), needs,
            [range = params.range, encoding = session_.encoding, uri = params.text_document.uri,
             tooltips = session_.can.hint_tooltips, locations = session_.can.hint_locations](
                Views& views, const AnnotateRequest& asked,
                const StopToken& stop) -> Result<psp::InlayHintRequest::Result> {
              PROFD_TRY(const FileAnnotations file, annotate_file(views, asked, stop));
              std::vector<psp::InlayHint> hints;
              for (const AnnotatedLine& line : file.lines) {
                if (line.line < range.start.line || line.line > range.end.line || hints.size() >= kMaxHints)
                  continue;
                psp::InlayHint hint;
                // Past the end means the end, as LSP says, where the text is not known.
                const std::uint32_t end =
                    asked.document ? asked.document->text().line_length(line.line, encoding) : kMaxCharacter;
                hint.position = {line.line, end};
                if (locations)
                  hint.label = std::vector<psp::InlayHintLabelPart>{{line.text, {}, {}, {}}};
                else
                  hint.label = line.text;
                hint.padding_left = true;
                if (!tooltips) hint.tooltip = sanitize_text(asked.open->name);
                if (tooltips || locations)
                  hint.data = psp::Any(nlohmann::json{{"profile", asked.open->handle},
                                                      {"revision", asked.open->revision},
                                                      {"uri", uri},
                                                      {"line", line.line}});
                hints.push_back(std::move(hint));
              }
              return psp::InlayHintRequest::Result(std::move(hints));
            });
      });

  binder.request<psp::CodeLensRequest>([this](const psp::CodeLensParams& params,
                                              protocol::Reply<psp::CodeLensRequest> reply) {
    const OpenProfilePtr open = annotating();
    const bool costs = session_.workspace.code_lens(), code = shows_assembly_lenses();
    if (!open || (!costs && !code)) return reply(std::nullopt);
    lenses_shown_ = true;
    auto request = annotate_request(session_, open, params.text_document.uri);
    if (!request) return reply(std::nullopt);
    const Needs needs = needs_of_functions(*request);
    session_.answer<psp::CodeLensRequest>(
        std::move(reply), std::move(*request), needs,
        [costs, code](Views& views, const AnnotateRequest& asked,
                      const StopToken& stop) -> Result<psp::CodeLensRequest::Result> {
          PROFD_TRY(const std::vector<FunctionCost> functions,
                    costs ? annotate_functions(views, asked, stop) : functions_of_file(views, asked, stop));
          std::vector<psp::CodeLens> lenses;
          if (code) {
            for (const FunctionCost& function :
                 functions_with_code(*asked.open->profile, functions, kMaxAssemblyLenses)) {
              psp::CodeLens lens;
              lens.range = line_range(function.line);
              lens.data =
                  psp::Any(nlohmann::json{{"profile", asked.open->handle}, {"function", function.name}});
              lenses.push_back(std::move(lens));
            }
          }
          for (const FunctionCost& function : functions) {
            if (!costs) break;
            psp::CodeLens lens;
            lens.range = line_range(function.line);
            psp::Command command;
            command.title = sanitize_text(function.text);
            command.command = "profd.callers";
            command.arguments = std::vector<psp::Any>{
                psp::Any(nlohmann::json{{"profile", asked.open->handle}, {"function", function.name}})};
            lens.command = std::move(command);
            lenses.push_back(std::move(lens));
          }
          return psp::CodeLensRequest::Result(std::move(lenses));
        });
  });

  binder.request<psp::HoverRequest>(
      [this](const psp::HoverParams& params, protocol::Reply<psp::HoverRequest> reply) {
        if (auto code = code_document_request(session_, params.text_document.uri)) {
          return answer_code<psp::HoverRequest>(
              std::move(reply), std::move(*code),
              [line = params.position.line, can = session_.can,
               encoding = session_.encoding](const CodeDocument& document) {
                const std::optional<Hover> found = code_hover(document, line);
                if (!found) return psp::HoverRequest::Result(std::nullopt);
                psp::Hover result;
                result.contents = contents_of(*found, can);
                result.range = psp::Range{{line, 0}, {line, encoded_length(document.lines[line], encoding)}};
                return psp::HoverRequest::Result(std::move(result));
              });
        }
        auto hover = hover_request(params.text_document.uri, params.position.line);
        if (!hover) return reply(std::nullopt);
        const Needs needs = needs_of(*hover);
        session_.answer_file<psp::HoverRequest>(
            std::move(reply), std::move(*hover), needs,
            [encoding = session_.encoding, can = session_.can, tips = tips_here()](
                Views& views, const HoverRequest& asked,
                const StopToken& stop) -> Result<psp::HoverRequest::Result> {
              PROFD_TRY(const std::optional<Hover> found, hover_with_tips(views, asked, tips, stop));
              if (!found) return psp::HoverRequest::Result(std::nullopt);
              psp::Hover result;
              result.contents = contents_of(*found, can);
              const std::uint32_t end =
                  asked.file.document ? asked.file.document->text().line_length(asked.line, encoding) : 0;
              result.range = psp::Range{{asked.line, 0}, {asked.line, end}};
              return psp::HoverRequest::Result(std::move(result));
            });
      });

  binder.request<psp::SourceHoverRequest>(
      [this](const psp::SourceHoverParams& params, protocol::Reply<psp::SourceHoverRequest> reply) {
        auto hover = hover_request(params.text_document.uri, params.position.line);
        if (!hover) return reply(std::nullopt);
        const Needs needs = needs_of(*hover);
        session_.answer_file<psp::SourceHoverRequest>(
            std::move(reply), std::move(*hover), needs,
            [tips = tips_here()](Views& views, const HoverRequest& asked,
                                 const StopToken& stop) -> Result<psp::SourceHoverRequest::Result> {
              PROFD_TRY(const std::optional<Hover> found, hover_with_tips(views, asked, tips, stop));
              if (!found) return psp::SourceHoverRequest::Result(std::nullopt);
              return psp::SourceHoverRequest::Result(page_to_psp(*found, asked.file.open->handle));
            });
      });

  binder.request<psp::WorkspaceSymbolRequest>(
      [this](const psp::WorkspaceSymbolParams& params, protocol::Reply<psp::WorkspaceSymbolRequest> reply) {
        const OpenProfilePtr open = session_.meant_profile();
        if (!open) return reply(std::nullopt);
        PlacesRequest request;
        request.open = open;
        request.workspace = session_.workspace.snapshot();
        request.spec.filters = session_.workspace.filters(open->uri);
        request.sort = SortBy::total;
        request.limit = kMaxSymbols;
        request.only_with_source = true;
        request.pattern = params.query;
        session_.answer<psp::WorkspaceSymbolRequest>(
            std::move(reply), std::move(request),
            [](Views& views, const PlacesRequest& asked,
               const StopToken& stop) -> Result<psp::WorkspaceSymbolRequest::Result> {
              PROFD_TRY(const Places found, hot_places(views, asked, stop));
              std::vector<psp::WorkspaceSymbol> symbols;
              for (const Place& place : found.places) {
                psp::WorkspaceSymbol symbol;
                symbol.name = sanitize_text(place.name) + "  " + total_share(place, found.whole);
                symbol.kind = psp::SymbolKind::function;
                symbol.container_name = std::string(base_name(place.path));
                symbol.location = {uri_of_path(place.path), line_range(place.line == 0 ? 0 : place.line - 1)};
                symbols.push_back(std::move(symbol));
              }
              return psp::WorkspaceSymbolRequest::Result(std::move(symbols));
            });
      });
}

}  // namespace

std::unique_ptr<Module> make_editor_module(SessionContext& session) {
  return std::make_unique<EditorModule>(session);
}

}  // namespace profd
