#include "server/dialect/psp/addresses.h"

#include "server/dialect/psp/session_context.h"
#include "server/engine/endpoint_origin.h"
#include "server/engine/engine.h"
#include "server/engine/previous_origin.h"

namespace profd {
namespace {

// What was kept of an earlier recording is there or not, and never asked for.
bool page_would_ask(const SessionContext& session, const std::string& uri) {
  return session.setup.may_have_root && names_endpoint(uri) && scheme_of(uri) != kPreviousScheme;
}

OpenProfilePtr open_at(const SessionContext& session, const std::string& uri) {
  for (const ProfileEntry& entry : session.engine.list())
    if (entry.profile && entry.profile->origin && entry.profile->origin->uri() == uri) return entry.profile;
  return nullptr;
}

}  // namespace

Result<OriginPtr> origin_for(const SessionContext& session, const std::string& uri,
                             const OpenOptions& options) {
  PROFD_TRY(OriginPtr origin, session.engine.origins().make(uri, options));
  if (!page_would_ask(session, uri)) return origin;
  if (const OpenProfilePtr open = open_at(session, origin->uri())) return open->origin;
  return fail(ErrorCode::invalid,
              "a page asks no address: open it in your editor or with `profd view ADDRESS` first");
}

Result<OriginPtr> origin_of_part(const SessionContext& session, const std::string& uri,
                                 const OpenOptions& options) {
  if (page_would_ask(session, uri))
    return fail(ErrorCode::invalid,
                "a page asks no address: open it in your editor or with `profd view ADDRESS`, and name what "
                "is open");
  return session.engine.origins().make(uri, options);
}

OriginPtr held_origin(const SessionContext& session, const std::string& uri) {
  const auto origin = session.engine.origins().make(uri, {});
  const OpenProfilePtr open = origin ? open_at(session, (*origin)->uri()) : nullptr;
  return open ? previous_origin(open->origin, open->revision, open->loaded) : nullptr;
}

}  // namespace profd
