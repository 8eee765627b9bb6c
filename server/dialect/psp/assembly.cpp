// Code of a profile for editors without a plugin: documents profd-asm: with their folds and links, lenses
// that open them.
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "server/dialect/psp/code_documents.h"
#include "server/dialect/psp/module.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"

namespace profd {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxShownDocuments = 64;

psp::Range line_of_document(std::uint32_t line) {
  return {{line, 0}, {line, 0}};
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
    capabilities.workspace.emplace();
    capabilities.workspace->text_document_content =
        psp::TextDocumentContentOptions{{std::string(kCodeScheme)}};
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

  SessionContext& session_;
  std::set<std::string> shown_;  // what the client was given and may show
};

// Editors fold and follow what they have a server of the language for: of other documents profd says nothing,
// so that it is asked of its own alone.
void AssemblyModule::start() {
  const auto own = [](const char* method) {
    psp::Registration out;
    out.id = std::string("profd ") + method;
    out.method = method;
    out.register_options = psp::Any(json{{"documentSelector", json::array({json{{"scheme", kCodeScheme}}})}});
    return out;
  };
  psp::RegistrationParams params;
  if (session_.can.text_content && session_.can.registers_folds) {
    params.registrations.push_back(own("textDocument/foldingRange"));
  }
  if (session_.can.text_content && session_.can.registers_definitions) {
    params.registrations.push_back(own("textDocument/definition"));
  }
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
        auto request = code_document_request(session_, params.uri);
        if (!request) {
          return reply.error(invalid_params("params.uri", "no code of a profile that is open"));
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
