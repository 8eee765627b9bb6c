// The messages of core/support/stack_copies.h, written and read with those of symbols.h.
#pragma once

#include "core/support/result.h"
#include "core/support/stack_copies.h"
#include "workers/message_fields.h"

namespace profd::worker {

Message message_of(const StackBatch& batch);
Message message_of(const UnwoundStacks& stacks);
// Columns are of one length, spaces, their maps and copies within what is there. Modules are not: they may be
// of a batch before.
Result<StackBatch> stack_batch_of(Cursor at);
// The same of addresses and those that are exact.
Result<UnwoundStacks> unwound_of(Cursor at);

}  // namespace profd::worker
