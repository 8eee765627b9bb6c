// textDocument/did*: what the client has open.
#include "server/dialect/psp/psp_session.h"
#include "server/engine/uri.h"

namespace profd {

void PspSession::bind_documents(protocol::Binder& binder) {
  binder.notification<psp::DidOpenTextDocumentNotification>([this](psp::DidOpenTextDocumentParams params) {
    auto path = path_of_uri(params.text_document.uri);
    if (!path) return;  // untitled: and the like: no profile knows them
    auto opened =
        workspace_.open_document(*path, std::move(params.text_document.text), params.text_document.version);
    if (!opened) log_message(psp::MessageType::warning, *path + ": " + opened.error().message);
  });
  binder.notification<psp::DidChangeTextDocumentNotification>(
      [this](const psp::DidChangeTextDocumentParams& params) {
        const auto path = path_of_uri(params.text_document.uri);
        Document* document = path ? workspace_.document(*path) : nullptr;
        if (document == nullptr) return;
        for (const psp::TextDocumentContentChangeEvent& change : params.content_changes) {
          std::optional<std::pair<TextPosition, TextPosition>> range;
          if (change.range)
            range = {{change.range->start.line, change.range->start.character},
                     {change.range->end.line, change.range->end.character}};
          const auto done = document->change(range, change.text, encoding_, params.text_document.version);
          if (done) continue;
          // From here on the text is not known; annotations would stand on wrong lines.
          log_message(psp::MessageType::warning, *path + ": " + done.error().message);
          workspace_.close_document(*path);
          return;
        }
      });
  binder.notification<psp::DidSaveTextDocumentNotification>(
      [this](const psp::DidSaveTextDocumentParams& params) {
        if (const auto path = path_of_uri(params.text_document.uri)) workspace_.document_saved(*path);
      });
  binder.notification<psp::DidCloseTextDocumentNotification>(
      [this](const psp::DidCloseTextDocumentParams& params) {
        if (const auto path = path_of_uri(params.text_document.uri)) workspace_.close_document(*path);
      });
}

}  // namespace profd
