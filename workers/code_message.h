// The messages of code.h, written and read with those of symbols.h.
#pragma once

#include "core/support/result.h"
#include "workers/code.h"
#include "workers/message_fields.h"

namespace profd::worker {

Message message_of(const CodeOrder& order);
Message message_of(const CodeRows& rows);
Result<CodeOrder> code_order_of(Cursor at);
// Columns are of one length, lengths, kinds and texts what code.h says, places in order.
Result<CodeRows> code_rows_of(Cursor at);

}  // namespace profd::worker
