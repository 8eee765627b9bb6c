// The page of the views, for a client that may have its address.
#pragma once

#include <string>
#include <vector>

#include "server/dialect/psp/session_context.h"

namespace profd {

// `unsupported` for a client that came over TCP or HTTP.
Result<WebPage> web_page(const SessionContext& session, std::vector<std::string> open, std::string view);

}  // namespace profd
