// What is asked of a source file, in the workspace of a session.
#pragma once

#include <string>

#include "server/dialect/psp/session_context.h"
#include "server/feature/annotate.h"

namespace profd {

tl::expected<AnnotateRequest, protocol::ResponseError> annotate_request(const SessionContext& session,
                                                                        const OpenProfilePtr& open,
                                                                        const std::string& uri);

}  // namespace profd
