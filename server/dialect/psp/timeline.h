// view/timeline.
#pragma once

#include "protocol/generated/psp_types.h"
#include "server/dialect/psp/session_context.h"
#include "server/feature/timeline_answer.h"

namespace profd {

psp::TimelineResult to_psp(TimelineAnswer answer);
void bind_timeline(SessionContext& session, protocol::Binder& binder);

}  // namespace profd
