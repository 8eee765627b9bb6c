// view/sets and profile/tips; and sets of a request as features have them.
#pragma once

#include <vector>

#include "protocol/binder.h"
#include "protocol/generated/psp_types.h"
#include "server/dialect/psp/session_context.h"
#include "server/feature/sets_answer.h"

namespace profd {

std::vector<NamedSet> named_sets(std::vector<psp::NamedSet> sets);
void bind_sets(SessionContext& session, protocol::Binder& binder);

}  // namespace profd
