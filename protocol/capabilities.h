// What two sides agree on in `initialize`.
#pragma once

#include <optional>

#include "protocol/generated/psp_types.h"

namespace profd::protocol {

// What the client can do natively: its member `profd`, else `experimental.profd` (some client libraries send
// no members that LSP does not know). Nothing when it has neither, or one that does not decode: then it is a
// plain LSP client.
std::optional<psp::ProfdClientCapabilities> profd_capabilities(const psp::ClientCapabilities& client);

// Announces the native methods at `profd` and at `experimental.profd`.
void announce(const psp::ProfdServerCapabilities& native, psp::ServerCapabilities& server);

// The first encoding of the client's list that is ours too; UTF-16, as LSP has it, when there is none.
psp::PositionEncodingKind choose_position_encoding(const psp::ClientCapabilities& client);

}  // namespace profd::protocol
