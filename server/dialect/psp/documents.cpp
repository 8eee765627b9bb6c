// textDocument/did*: what the client has open.
#include "server/dialect/psp/module.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

class DocumentsModule final : public Module {
 public:
  explicit DocumentsModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder& binder) override;
  void announce(psp::ServerCapabilities& capabilities, psp::ProfdServerCapabilities&) const override {
    psp::TextDocumentSyncOptions sync;
    sync.open_close = true;
    sync.change = psp::TextDocumentSyncKind::incremental;
    sync.save = psp::SaveOptions{false};
    capabilities.text_document_sync = sync;
  }

 private:
  SessionContext& session_;
};

void DocumentsModule::bind(protocol::Binder& binder) {
  binder.notification<psp::DidOpenTextDocumentNotification>([this](psp::DidOpenTextDocumentParams params) {
    auto path = path_of_uri(params.text_document.uri);
    if (!path) return;  // untitled: and the like: no profile knows them
    auto opened = session_.workspace.open_document(*path, std::move(params.text_document.text),
                                                   params.text_document.version);
    if (!opened) session_.log_message(psp::MessageType::warning, *path + ": " + opened.error().message);
  });
  binder.notification<psp::DidChangeTextDocumentNotification>(
      [this](const psp::DidChangeTextDocumentParams& params) {
        const auto path = path_of_uri(params.text_document.uri);
        Document* document = path ? session_.workspace.document(*path) : nullptr;
        if (document == nullptr) return;
        for (const psp::TextDocumentContentChangeEvent& change : params.content_changes) {
          std::optional<std::pair<TextPosition, TextPosition>> range;
          if (change.range)
            range = {{change.range->start.line, change.range->start.character},
                     {change.range->end.line, change.range->end.character}};
          const auto done =
              document->change(range, change.text, session_.encoding, params.text_document.version);
          if (done) continue;
          // From here on the text is not known; annotations would stand on wrong lines.
          session_.log_message(psp::MessageType::warning, *path + ": " + done.error().message);
          session_.workspace.close_document(*path);
          return;
        }
        if (const auto fits = session_.workspace.document_changed(*path); !fits) {
          session_.log_message(psp::MessageType::warning, *path + ": " + fits.error().message);
          session_.workspace.close_document(*path);
        }
      });
  binder.notification<psp::DidSaveTextDocumentNotification>(
      [this](const psp::DidSaveTextDocumentParams& params) {
        if (const auto path = path_of_uri(params.text_document.uri)) session_.workspace.document_saved(*path);
      });
  binder.notification<psp::DidCloseTextDocumentNotification>(
      [this](const psp::DidCloseTextDocumentParams& params) {
        if (const auto path = path_of_uri(params.text_document.uri)) session_.workspace.close_document(*path);
      });
}

}  // namespace

std::unique_ptr<Module> make_documents_module(SessionContext& session) {
  return std::make_unique<DocumentsModule>(session);
}

}  // namespace profd
