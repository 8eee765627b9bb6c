// profd-asm: documents that are code of a profile. What a session answers about them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/dialect/psp/session_context.h"
#include "server/feature/code_document.h"

namespace profd {

inline constexpr std::string_view kCodeScheme = "profd-asm";

// "profd-asm:/p1/app%2B0x4001e0/fill.s": the profile, the code, and the function that it was asked for as.
std::string code_uri(const std::string& profile, const std::string& code, const std::string& name);

// All that a worker needs to find code.
struct CodeMeansHeld {
  SymbolPlaces places;
  std::string program;
  WorkerLimits limits;
  std::chrono::milliseconds patience;
  std::shared_ptr<CodeCache> cache;  // the session's
};
CodeMeansHeld code_means(const SessionContext& session, const OpenProfile& open);
// With the workspace's files and filters, of the profile's metric.
DisassemblyRequest code_request(const SessionContext& session, const OpenProfilePtr& open);

struct CodeDocumentRequest {
  DisassemblyRequest code;
  CodeMeansHeld means;
  std::string function;              // whose other code is named; "" or unknown: the one that the code is of
  std::vector<std::string> folders;  // whose sources may be shown
  bool costs = false;                // see code_document()
};
// Of a URI of such a document, or of the page that stands for one (CodePage). Nothing: it is another
// document, or one of a profile that is not open.
std::optional<CodeDocumentRequest> code_document_request(SessionContext& session, const std::string& uri);
// With its place still to be said.
CodeDocumentRequest code_document_request(const SessionContext& session, const OpenProfilePtr& open,
                                          bool costs);

// On a worker. Kept until the profile, its filters or the metric change. Where there is no code to show, the
// text says why.
Result<std::shared_ptr<const CodeDocument>> code_document_at(Views& views, const CodeDocumentRequest& request,
                                                             const StopToken& stop);

// The code of the request's place, with its problem.
Result<DisassemblyAnswer> code_at(Views& views, const DisassemblyRequest& request, const CodeMeansHeld& means,
                                  const StopToken& stop);

std::vector<psp::InlayHint> hints_to_psp(const CodeDocument& document, const psp::Range& range,
                                         PositionEncoding encoding);

}  // namespace profd
