// view/flameGraph.
#pragma once

#include "server/dialect/psp/session_context.h"

namespace profd {

void bind_flame_graph(SessionContext& session, protocol::Binder& binder);

}  // namespace profd
