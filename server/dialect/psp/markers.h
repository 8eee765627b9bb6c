// Markers and counters as the protocol has them.
#pragma once

#include "server/dialect/psp/session_context.h"
#include "server/feature/counters_answer.h"
#include "server/feature/markers_answer.h"

namespace profd {

psp::MarkersResult to_psp(MarkersAnswer answer);
psp::MarkerTracksResult to_psp(MarkerTracksAnswer answer);
psp::CountersResult to_psp(CountersAnswer answer);
void bind_markers(SessionContext& session, protocol::Binder& binder);

}  // namespace profd
