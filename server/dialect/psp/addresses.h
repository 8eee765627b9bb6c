// Who may have the daemon ask an address (endpoint_origin.h): its user's own clients. A page shows what they
// have opened, and makes the daemon ask nobody.
#pragma once

#include <string>

#include "core/support/result.h"
#include "formats/open.h"
#include "server/engine/origin.h"

namespace profd {

struct SessionContext;

// What `uri` names. To a page an address, and what is put together of any, is what is open already under that
// name, which asks nothing; `invalid` where it is not.
Result<OriginPtr> origin_for(const SessionContext& session, const std::string& uri,
                             const OpenOptions& options);
// As a part of something else, for which it would be asked: `invalid` for a page.
Result<OriginPtr> origin_of_part(const SessionContext& session, const std::string& uri,
                                 const OpenOptions& options);
// What is open at a URI, as it is held now: nothing is read for it. Null where nothing is.
OriginPtr held_origin(const SessionContext& session, const std::string& uri);

}  // namespace profd
