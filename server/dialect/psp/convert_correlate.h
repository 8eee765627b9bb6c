// What goes with what, as the protocol has it.
#pragma once

#include "protocol/generated/psp_types.h"
#include "server/feature/correlate_answer.h"

namespace profd {

psp::CorrelateResult to_psp(CorrelateAnswer answer);

}  // namespace profd
