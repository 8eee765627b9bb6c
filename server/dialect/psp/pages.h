// Reports for editors without views: documents profd:, or a file where the editor takes no such documents.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/dialect/psp/session_context.h"
#include "server/feature/report_pages.h"

namespace profd {

inline constexpr std::string_view kPageScheme = "profd";

// "profd:/p1/hotspots.md", "profd:/p1/callers/main.parseRow.md".
std::string page_uri(const std::string& profile, PageKind kind, const std::string& function = "");
// With the workspace's files and filters.
PageRequest page_request(const SessionContext& session, OpenProfilePtr open, PageKind kind,
                         std::string function);
// Of a URI of such a document. Nothing: it is another document, or one of a profile that is not open.
std::optional<PageRequest> page_request(SessionContext& session, const std::string& uri);

// Shows a page in the editor: as a document, where it can show none as a message. May be called on a worker,
// once it has the page. Empty where the client shows answers itself.
std::function<void(const ReportPage& page)> page_shower(const SessionContext& session,
                                                        const PageRequest& request);
// Shows `line` where the client cannot show the document.
void show_document_or(const std::shared_ptr<protocol::Peer>& peer, const psp::ShowDocumentParams& shown,
                      std::string line);

// Where something of a client is put to be shown, private to its user; "" where there is no place for it.
std::string shown_file(std::string_view name, ClientId client, std::string_view extension = "md");
// The pages that were shown are gone with their session.
void remove_shown_files(const SessionContext& session);

}  // namespace profd
