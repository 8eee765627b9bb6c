// What requests that open profiles share, by file, put together of others, made by a script.
#pragma once

#include <optional>
#include <string>

#include "server/dialect/psp/session_context.h"
#include "server/engine/composed_origin.h"

namespace profd {

OpenRequest open_request(const SessionContext& session, const std::optional<psp::OpenOptions>& given);
// A profile that is open, or what is at a URI; `where` is the part's place in the parameters.
tl::expected<ComposedPart, protocol::ResponseError> part_of(SessionContext& session,
                                                            const psp::ComposedPart& part,
                                                            const OpenOptions& options,
                                                            const std::string& where);
// On a worker.
Result<psp::ProfileOpenResult> opened_to_psp(Views& views, const OpenAnswer& answer,
                                             const WorkspaceSnapshot& workspace, const StopToken& stop);

}  // namespace profd
