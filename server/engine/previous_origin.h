// What an origin gave before it was last loaded anew, as an origin of its own:
// `previous://?of=URI&revision=N`. It is the profiles themselves and nothing that could be read again: it is
// there as long as somebody holds it, the store (OpenOrigin::previous) or a diff that was made with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "server/engine/origin.h"

namespace profd {

inline constexpr std::string_view kPreviousScheme = "previous";

struct PreviousName {
  std::string of;  // a URI
  std::uint32_t revision = 0;
};
// `invalid` for what is no such URI, or is one of what is neither a file nor at an address: nothing
// else is recorded again.
Result<PreviousName> parse_previous(std::string_view uri);

// `of` gave `loaded` as this revision.
OriginPtr previous_origin(const OriginPtr& of, std::uint32_t revision,
                          std::shared_ptr<const LoadedProfiles> loaded);

}  // namespace profd
