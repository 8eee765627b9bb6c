// What messages with diagnostics say, as JSON text.
#pragma once

#include <string>
#include <string_view>

namespace profd {

// What a document is kept by: two spellings of one file are one document. `uri` is JSON; "" where it is none.
std::string document_of_uri(std::string_view uri);
// `body`: a textDocument/publishDiagnostics.
std::string document_published(std::string_view body);
std::string_view diagnostics_in(std::string_view body);
// The message that takes them back.
std::string without_diagnostics(std::string_view body);

}  // namespace profd
