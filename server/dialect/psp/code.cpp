// source/disassembly.
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/view/code_place.h"
#include "server/dialect/psp/code_documents.h"
#include "server/dialect/psp/convert_code.h"
#include "server/dialect/psp/convert_views.h"
#include "server/dialect/psp/module.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

// A place in a source file of the workspace, which the profile calls by names of its own.
struct TextPlace {
  std::string path;
  std::shared_ptr<const Document> document;
  std::uint32_t line = 0;  // from 1
};

class CodeModule final : public Module {
 public:
  explicit CodeModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder& binder) override;

 private:
  using Request = psp::SourceDisassemblyRequest;
  void disassemble(psp::SourceDisassemblyParams params, protocol::Reply<Request> reply);

  SessionContext& session_;
};

void CodeModule::disassemble(psp::SourceDisassemblyParams params, protocol::Reply<Request> reply) {
  auto named = from_psp(params.spec.value_or(psp::ViewSpecLike(std::string("flat"))), "params.spec");
  if (!named) return reply.error(named.error());
  session_.decide_mine(named->spec.filters);
  const auto open = session_.profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
  if (!open) return reply.error(open.error());
  for (std::size_t i = 0; i < params.metrics.size(); ++i) {
    if (auto wrong = no_metric(**open, params.metrics[i], fmt::format("params.metrics[{}]", i))) {
      return reply.error(*wrong);
    }
  }
  DisassemblyRequest request;
  request.open = *open;
  request.workspace = session_.workspace.snapshot();
  request.spec = std::move(named->spec);
  std::vector<std::string> applied;
  if (params.workspace_filters) {
    std::vector<Filter> filters = session_.workspace.filters((*open)->uri);
    applied = texts_of(filters);
    request.spec.filters.insert(request.spec.filters.begin(), filters.begin(), filters.end());
  }
  request.metrics = std::move(params.metrics);
  request.att = params.syntax == psp::CodeSyntax::att;
  request.piece = params.piece;
  std::optional<TextPlace> source;
  if (params.function) {
    request.place.function = std::move(*params.function);
  } else if (params.code) {
    const auto code = parse_code_place(*params.code);
    if (!code) return reply.error(invalid_params("params.code", "no MODULE+0xADDRESS"));
    request.place.module = code->module;
    request.place.address = code->address;
  } else if (params.text_document) {
    if (!params.position) return reply.error(invalid_params("params.position", "needed with a textDocument"));
    auto path = path_of_uri(params.text_document->uri);
    if (!path) return reply.error(invalid_params("params.textDocument.uri", path.error().message));
    source = TextPlace{*path, session_.workspace.document_snapshot(*path), params.position->line + 1};
  }
  const CodeWindow window{params.offset, params.limit, params.bytes};
  session_.run<Request>(
      false, std::move(reply), (*open)->place(),
      [&views = session_.engine.views(), request = std::move(request), source = std::move(source), window,
       applied = std::move(applied),
       means = code_means(session_, **open)](const StopToken& stop) -> Result<psp::SourceDisassemblyResult> {
        DisassemblyRequest asked = request;
        if (source) {
          PROFD_TRY(const auto file, views.source_file(*asked.open, asked.workspace, source->path,
                                                       source->document.get(), stop));
          if (file->files.empty()) return fail(ErrorCode::not_found, "the profile has nothing of this file");
          asked.place.files = file->files;
          asked.place.line = source->line;
        }
        PROFD_TRY(DisassemblyAnswer answer, code_at(views, asked, means, stop));
        psp::SourceDisassemblyResult result = to_psp(std::move(answer), window);
        result.filters = applied;
        return result;
      });
}

void CodeModule::bind(protocol::Binder& binder) {
  binder.request<Request>([this](psp::SourceDisassemblyParams params, protocol::Reply<Request> reply) {
    disassemble(std::move(params), std::move(reply));
  });
}

}  // namespace

std::unique_ptr<Module> make_code_module(SessionContext& session) {
  return std::make_unique<CodeModule>(session);
}

}  // namespace profd
