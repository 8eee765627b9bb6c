// States of threads, as the protocol has them.
#pragma once

#include "protocol/generated/psp_types.h"
#include "server/feature/states_answer.h"

namespace profd {

psp::StatesResult to_psp(StatesAnswer answer);

}  // namespace profd
