// textDocument/did*: what the client has open.
//
// Texts are read, and the file system asked, on workers; the session's messages wait meanwhile. Small edits
// are made at once: they cost the same whatever the document.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/support/text.h"
#include "server/dialect/psp/module.h"
#include "server/engine/source_text.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

constexpr std::size_t kEditedInline = std::size_t{64} << 10, kEditsInline = 16;
constexpr std::size_t kReadSoon = std::size_t{4} << 20;

std::optional<FileStamp> stamp_at(const std::string& path) {
  const auto stamp = stamp_of(path);
  return stamp ? std::optional(*stamp) : std::nullopt;
}

// Nothing: there is no file. The text is read unless the stamp is `known`.
std::optional<FileOnDisk> look(const std::string& path, const std::optional<FileStamp>& known) {
  const auto stamp = stamp_at(path);
  if (!stamp) return std::nullopt;
  FileOnDisk file{*stamp, std::nullopt};
  if (stamp == known) return file;
  file.text = read_source(path);
  // What is in another encoding the editor has as other bytes.
  if (file.text && !is_valid_utf8(*file.text)) file.text.reset();
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (file.text && file.text->starts_with(kByteOrderMark)) file.text->erase(0, kByteOrderMark.size());
  return file;
}

using Edits = std::vector<psp::TextDocumentContentChangeEvent>;

Result<void> edit(Document& document, const Edits& edits, PositionEncoding encoding, std::int32_t version) {
  for (const psp::TextDocumentContentChangeEvent& change : edits) {
    std::optional<std::pair<TextPosition, TextPosition>> range;
    if (change.range)
      range = {{change.range->start.line, change.range->start.character},
               {change.range->end.line, change.range->end.character}};
    PROFD_CHECK(document.change(range, change.text, encoding, version));
  }
  return {};
}

std::size_t bytes_of(const Edits& edits) {
  std::size_t bytes = 0;
  for (const psp::TextDocumentContentChangeEvent& change : edits) bytes += change.text.size();
  return bytes;
}

class DocumentsModule final : public Module {
 public:
  explicit DocumentsModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder& binder) override;
  void on_profile(const ProfileNews& news) override {
    if (news.change == ProfileChange::opened || news.change == ProfileChange::reloaded) look_at_files();
  }
  void announce(psp::ServerCapabilities& capabilities, psp::ProfdServerCapabilities&) const override {
    psp::TextDocumentSyncOptions sync;
    sync.open_close = true;
    sync.change = psp::TextDocumentSyncKind::incremental;
    sync.save = psp::SaveOptions{false};
    capabilities.text_document_sync = sync;
  }

 private:
  void open(const std::string& path, std::string text, std::int32_t version);
  void change(const std::string& path, Edits edits, std::int32_t version);
  void saved(const std::string& path);
  // Files may have been written by others before the newest profile was recorded.
  void look_at_files();
  // Where that failed, the text is not known from here on: annotations would stand on wrong lines.
  void look_at(const std::string& path, const Result<void>& done);
  // On a worker; the lane by how much there is to do.
  void work_on(std::size_t bytes, const char* what, UniqueFunction<void()> work,
               UniqueFunction<void()> then) {
    session_.aside(bytes < kReadSoon ? Lane::interactive : Lane::bulk, what, std::move(work),
                   std::move(then));
  }

  SessionContext& session_;
  bool is_looking_ = false, looks_again_ = false;
};

void DocumentsModule::look_at(const std::string& path, const Result<void>& done) {
  if (done) return;
  session_.log_message(psp::MessageType::warning, path + ": " + done.error().message);
  session_.workspace.close_document(path);
}

void DocumentsModule::open(const std::string& path, std::string text, std::int32_t version) {
  const auto made = std::make_shared<std::shared_ptr<Document>>();
  const std::size_t bytes = text.size();
  work_on(
      bytes, "open document",
      [made, path, version, newest = session_.engine.newest_view_id(), text = std::move(text)] {
        *made = std::make_shared<Document>(text, version, look(path, std::nullopt), newest);
      },
      [this, made, path] {
        if (*made) look_at(path, session_.workspace.put_document(path, std::move(*made)));
        session_.documents_changed();
      });
}

void DocumentsModule::change(const std::string& path, Edits edits, std::int32_t version) {
  Document* document = session_.workspace.document(path);
  if (document == nullptr) return;
  const std::size_t bytes = bytes_of(edits);
  if (edits.size() <= kEditsInline && bytes <= kEditedInline) {
    Result<void> done = edit(*document, edits, session_.encoding, version);
    return look_at(path, done ? session_.workspace.document_changed(path) : done);
  }
  struct Changed {
    std::shared_ptr<Document> document;
    Result<void> done = fail(ErrorCode::internal, "the change could not be made");
  };
  const auto changed = std::make_shared<Changed>();
  changed->document = std::make_shared<Document>(*document);
  work_on(
      bytes, "change document",
      [changed, edits = std::move(edits), encoding = session_.encoding, version] {
        changed->done = edit(*changed->document, edits, encoding, version);
      },
      [this, changed, path] {
        if (changed->done)
          changed->done = session_.workspace.put_document(path, std::move(changed->document));
        look_at(path, changed->done);
      });
}

void DocumentsModule::saved(const std::string& path) {
  if (session_.workspace.document(path) == nullptr) return;
  const auto stamp = std::make_shared<std::optional<FileStamp>>();
  work_on(
      0, "look at document", [stamp, path] { *stamp = stamp_at(path); },
      [this, stamp, path] {
        if (Document* document = session_.workspace.document(path))
          look_at(path,
                  document->saved(session_.engine.newest_view_id(), session_.engine.view_ids(), *stamp));
        session_.documents_changed();
      });
}

void DocumentsModule::look_at_files() {
  if (is_looking_) {
    looks_again_ = true;
    return;
  }
  struct Look {
    std::string path;
    std::shared_ptr<Document> document;
    Result<void> done;
  };
  const auto looks = std::make_shared<std::vector<Look>>();
  for (const auto& [path, document] : session_.workspace.documents())
    looks->push_back({path, std::make_shared<Document>(*document), {}});
  if (looks->empty()) return;
  is_looking_ = true;
  looks_again_ = false;
  work_on(
      0, "look at files",
      [looks, newest = session_.engine.newest_view_id(), in_use = session_.engine.view_ids()] {
        for (Look& one : *looks)
          if (const auto file = look(one.path, one.document->stamp()))
            one.done = one.document->looked_at(*file, newest, in_use);
      },
      [this, looks] {
        is_looking_ = false;
        for (Look& one : *looks)
          look_at(one.path,
                  one.done ? session_.workspace.put_document(one.path, std::move(one.document)) : one.done);
        if (looks_again_) look_at_files();
      });
}

void DocumentsModule::bind(protocol::Binder& binder) {
  // untitled: and the like have no path, and no profile knows them.
  binder.notification<psp::DidOpenTextDocumentNotification>([this](psp::DidOpenTextDocumentParams params) {
    if (const auto path = path_of_uri(params.text_document.uri))
      open(*path, std::move(params.text_document.text), params.text_document.version);
  });
  binder.notification<psp::DidChangeTextDocumentNotification>(
      [this](psp::DidChangeTextDocumentParams params) {
        if (const auto path = path_of_uri(params.text_document.uri))
          change(*path, std::move(params.content_changes), params.text_document.version);
      });
  binder.notification<psp::DidSaveTextDocumentNotification>(
      [this](const psp::DidSaveTextDocumentParams& params) {
        if (const auto path = path_of_uri(params.text_document.uri)) saved(*path);
      });
  binder.notification<psp::DidCloseTextDocumentNotification>(
      [this](const psp::DidCloseTextDocumentParams& params) {
        const auto path = path_of_uri(params.text_document.uri);
        if (!path) return;
        session_.workspace.close_document(*path);
        session_.documents_changed();
      });
}

}  // namespace

std::unique_ptr<Module> make_documents_module(SessionContext& session) {
  return std::make_unique<DocumentsModule>(session);
}

}  // namespace profd
