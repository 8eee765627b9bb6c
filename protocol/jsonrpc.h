// JSON-RPC 2.0 as LSP speaks it: everything a dialect or a client needs.
#pragma once

#include "protocol/binder.h"          // IWYU pragma: export
#include "protocol/message.h"         // IWYU pragma: export
#include "protocol/peer.h"            // IWYU pragma: export
#include "protocol/reply.h"           // IWYU pragma: export
#include "protocol/request_id.h"      // IWYU pragma: export
#include "protocol/response_error.h"  // IWYU pragma: export
