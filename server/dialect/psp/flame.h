// view/flameGraph, view/hiddenMatches, view/match, view/hotPath and view/series.
#pragma once

#include "server/dialect/psp/session_context.h"

namespace profd {

void bind_flame_graph(SessionContext& session, protocol::Binder& binder);
void bind_match(SessionContext& session, protocol::Binder& binder);
void bind_hot_path(SessionContext& session, protocol::Binder& binder);
void bind_series(SessionContext& session, protocol::Binder& binder);

}  // namespace profd
