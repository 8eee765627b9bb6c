// Documents of the daemon's own for editors without a plugin: code as profd-asm: with its folds and links,
// lenses that open it; reports as profd:.
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "server/dialect/psp/code_documents.h"
#include "server/dialect/psp/module.h"
#include "server/dialect/psp/pages.h"
#include "server/engine/piece_text.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"

namespace profd {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxShownDocuments = 64;

psp::Range line_of_document(std::uint32_t line) {
  return {{line, 0}, {line, 0}};
}

std::vector<psp::DocumentLink> links_of(const ReportPage& page, PositionEncoding encoding) {
  std::vector<psp::DocumentLink> out;
  std::string_view rest = page.markdown;
  std::uint32_t at = 0;  // the line that `rest` begins with; links are in the order of the page
  for (const PageLink& link : page.links) {
    for (; at < link.line; ++at) rest.remove_prefix(rest.find('\n') + 1);
    const auto column = [&](std::size_t bytes) { return encoded_length(rest.substr(0, bytes), encoding); };
    psp::DocumentLink& one = out.emplace_back();
    one.range = {{link.line, column(link.begin)}, {link.line, column(link.end)}};
    one.target = uri_of_path(link.path) + (link.to_line == 0 ? "" : "#L" + std::to_string(link.to_line));
  }
  return out;
}

// A text of `data` of a lens; "" it is another's.
std::string data_text(const psp::CodeLens& lens, const char* name) {
  if (!lens.data || !(*lens.data)->is_object()) return "";
  const auto found = (*lens.data)->find(name);
  return found != (*lens.data)->end() && found->is_string() ? found->get<std::string>() : "";
}

class AssemblyModule final : public Module {
 public:
  explicit AssemblyModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder& binder) override;
  void announce(psp::ServerCapabilities& capabilities, psp::ProfdServerCapabilities&) const override {
    if (!session_.can.text_content) return;
    if (!capabilities.workspace) capabilities.workspace.emplace();
    capabilities.workspace->text_document_content =
        psp::TextDocumentContentOptions{{std::string(kCodeScheme), std::string(kPageScheme)}};
  }
  void start() override;
  void refresh() override {
    if (!session_.can.text_content) return;
    for (const std::string& uri : shown_) {
      session_.peer->call<psp::TextDocumentContentRefreshRequest>({uri}, [](const auto&) {});
    }
  }

 private:
  void resolve(psp::CodeLens lens, protocol::Reply<psp::CodeLensResolveRequest> reply);
  // What `write` makes of a report.
  template <class R, class Write>
  void answer_page(protocol::Reply<R> reply, PageRequest request, Write write) {
    const std::string place = request.open->place();
    session_.run<R>(true, std::move(reply), place,
                    [&views = session_.engine.views(), request = std::move(request),
                     write = std::move(write)](const StopToken& stop) -> Result<typename R::Result> {
                      PROFD_TRY(const ReportPage page, report_page(views, request, stop));
                      return write(page);
                    });
  }

  SessionContext& session_;
  std::set<std::string> shown_;  // what the client was given and may show
};

// Editors fold and follow what they have a server of the language for: of other documents profd says nothing,
// so that it is asked of its own alone.
void AssemblyModule::start() {
  psp::RegistrationParams params;
  const auto own = [&](bool takes, const char* method, std::initializer_list<std::string_view> schemes) {
    if (!session_.can.text_content || !takes) return;
    json selector = json::array();
    for (const std::string_view scheme : schemes) selector.push_back(json{{"scheme", scheme}});
    psp::Registration& out = params.registrations.emplace_back();
    out.id = std::string("profd ") + method;
    out.method = method;
    out.register_options = psp::Any(json{{"documentSelector", std::move(selector)}});
  };
  own(session_.can.registers_folds, "textDocument/foldingRange", {kCodeScheme});
  own(session_.can.registers_definitions, "textDocument/definition", {kCodeScheme, kPageScheme});
  own(session_.can.registers_links, "textDocument/documentLink", {kPageScheme});
  own(session_.can.registers_highlights, "textDocument/documentHighlight", {kCodeScheme});
  if (!params.registrations.empty()) {
    session_.peer->call<psp::RegisterCapabilityRequest>(params, [](const auto&) {});
  }
}

void AssemblyModule::resolve(psp::CodeLens lens, protocol::Reply<psp::CodeLensResolveRequest> reply) {
  const std::string function = data_text(lens, "function"), handle = data_text(lens, "profile");
  const auto open = session_.profile(handle);
  if (function.empty() || !open) return reply(std::move(lens));  // of a profile that is gone: it says nothing
  DisassemblyRequest request = code_request(session_, *open);
  request.place.function = function;
  session_.run<psp::CodeLensResolveRequest>(
      true, std::move(reply), (*open)->place(),
      [&views = session_.engine.views(), request = std::move(request), means = code_means(session_, **open),
       lens = std::move(lens), handle](const StopToken& stop) -> Result<psp::CodeLens> {
        PROFD_TRY(const DisassemblyAnswer answer, code_at(views, request, means, stop));
        psp::Command command;
        command.title = code_lens_text(answer);
        command.command = "profd.assembly";
        command.arguments =
            std::vector<psp::Any>{psp::Any(json{{"function", request.place.function}, {"profile", handle}})};
        psp::CodeLens out = lens;
        out.command = std::move(command);
        return out;
      });
}

void AssemblyModule::bind(protocol::Binder& binder) {
  binder.request<psp::TextDocumentContentRequest>(
      [this](const psp::TextDocumentContentParams& params,
             protocol::Reply<psp::TextDocumentContentRequest> reply) {
        if (auto page = page_request(session_, params.uri)) {
          if (shown_.size() < kMaxShownDocuments) shown_.insert(params.uri);
          return answer_page<psp::TextDocumentContentRequest>(
              std::move(reply), std::move(*page),
              [](const ReportPage& made) { return psp::TextDocumentContentResult{made.markdown}; });
        }
        auto request = code_document_request(session_, params.uri);
        if (!request) {
          return reply.error(invalid_params("params.uri", "no code and no report of a profile that is open"));
        }
        if (shown_.size() < kMaxShownDocuments) shown_.insert(params.uri);
        const std::string place = request->code.open->place();
        session_.run<psp::TextDocumentContentRequest>(
            true, std::move(reply), place,
            [&views = session_.engine.views(),
             request = std::move(*request)](const StopToken& stop) -> Result<psp::TextDocumentContentResult> {
              PROFD_TRY(const auto document, code_document_at(views, request, stop));
              return psp::TextDocumentContentResult{document->text()};
            });
      });

  binder.request<psp::FoldingRangeRequest>([this](const psp::FoldingRangeParams& params,
                                                  protocol::Reply<psp::FoldingRangeRequest> reply) {
    auto request = code_document_request(session_, params.text_document.uri);
    if (!request) return reply(std::nullopt);
    const std::string place = request->code.open->place();
    session_.run<psp::FoldingRangeRequest>(
        true, std::move(reply), place,
        [&views = session_.engine.views(),
         request = std::move(*request)](const StopToken& stop) -> Result<psp::FoldingRangeRequest::Result> {
          PROFD_TRY(const auto document, code_document_at(views, request, stop));
          std::vector<psp::FoldingRange> ranges;
          for (const CodeFold& fold : code_folds(*document)) ranges.push_back({fold.first, fold.last});
          return psp::FoldingRangeRequest::Result(std::move(ranges));
        });
  });

  binder.request<psp::DefinitionRequest>(
      [this](const psp::DefinitionParams& params, protocol::Reply<psp::DefinitionRequest> reply) {
        if (auto page = page_request(session_, params.text_document.uri)) {
          return answer_page<psp::DefinitionRequest>(
              std::move(reply), std::move(*page), [line = params.position.line](const ReportPage& made) {
                std::vector<psp::Location> places;
                for (const PageLink& link : made.links)
                  if (link.line == line)
                    places.push_back(
                        {uri_of_path(link.path), line_of_document(link.to_line == 0 ? 0 : link.to_line - 1)});
                return places.empty() ? psp::DefinitionRequest::Result(std::nullopt)
                                      : psp::DefinitionRequest::Result(std::move(places));
              });
        }
        auto request = code_document_request(session_, params.text_document.uri);
        if (!request) return reply(std::nullopt);
        const std::string place = request->code.open->place();
        session_.run<psp::DefinitionRequest>(
            true, std::move(reply), place,
            [&views = session_.engine.views(), request = std::move(*request), uri = params.text_document.uri,
             line = params.position.line](const StopToken& stop) -> Result<psp::DefinitionRequest::Result> {
              PROFD_TRY(const auto document, code_document_at(views, request, stop));
              const auto link = code_link(*document, line);
              if (!link) return psp::DefinitionRequest::Result(std::nullopt);
              psp::Location location;
              if (link->line) {
                location = {uri, line_of_document(*link->line)};
              } else if (!link->code.empty()) {
                location = {code_uri(request.code.open->handle, link->code, link->name), line_of_document(0)};
              } else {
                location = {uri_of_path(link->path), line_of_document(link->path_line - 1)};
              }
              return psp::DefinitionRequest::Result(std::vector<psp::Location>{std::move(location)});
            });
      });

  binder.request<psp::DocumentLinkRequest>(
      [this](const psp::DocumentLinkParams& params, protocol::Reply<psp::DocumentLinkRequest> reply) {
        auto page = page_request(session_, params.text_document.uri);
        if (!page) return reply(std::nullopt);
        answer_page<psp::DocumentLinkRequest>(
            std::move(reply), std::move(*page), [encoding = session_.encoding](const ReportPage& made) {
              return psp::DocumentLinkRequest::Result(links_of(made, encoding));
            });
      });

  binder.request<psp::DocumentHighlightRequest>([this](const psp::DocumentHighlightParams& params,
                                                       protocol::Reply<psp::DocumentHighlightRequest> reply) {
    auto request = code_document_request(session_, params.text_document.uri);
    if (!request) return reply(std::nullopt);
    const std::string place = request->code.open->place();
    session_.run<psp::DocumentHighlightRequest>(
        true, std::move(reply), place,
        [&views = session_.engine.views(), request = std::move(*request), line = params.position.line,
         encoding =
             session_.encoding](const StopToken& stop) -> Result<psp::DocumentHighlightRequest::Result> {
          PROFD_TRY(const auto document, code_document_at(views, request, stop));
          std::vector<psp::DocumentHighlight> out;
          for (const std::uint32_t same : rows_of_same_line(*document, line))
            out.push_back({{{same, 0}, {same, encoded_length(document->lines[same], encoding)}}});
          if (out.empty()) return psp::DocumentHighlightRequest::Result(std::nullopt);
          return psp::DocumentHighlightRequest::Result(std::move(out));
        });
  });

  binder.request<psp::CodeLensResolveRequest>(
      [this](psp::CodeLens lens, protocol::Reply<psp::CodeLensResolveRequest> reply) {
        resolve(std::move(lens), std::move(reply));
      });
}

}  // namespace

std::unique_ptr<Module> make_assembly_module(SessionContext& session) {
  return std::make_unique<AssemblyModule>(session);
}

}  // namespace profd
