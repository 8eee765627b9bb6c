// Heat maps as the protocol has them.
#pragma once

#include "server/dialect/psp/session_context.h"
#include "server/feature/heat_map_answer.h"

namespace profd {

psp::HeatMapResult to_psp(HeatMapAnswer answer);
void bind_heat_map(SessionContext& session, protocol::Binder& binder);

}  // namespace profd
