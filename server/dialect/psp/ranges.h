// view/ranges and view/report.
#pragma once

#include "server/dialect/psp/session_context.h"

namespace profd {

void bind_ranges(SessionContext& session, protocol::Binder& binder);

}  // namespace profd
