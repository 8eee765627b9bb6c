// One role of a profile's records of several contexts, as an origin of its own:
//   pairs://?of=URI&table=NAME&role=NAME
// `of` is percent-encoded and may end in "#NAME", which is one profile of several in it. Without `table` it
// is the first that the profile has, without `role` the last of that. It loads what it is of, and has changed
// when that has.
#pragma once

#include <string>
#include <string_view>

#include "server/engine/origin.h"
#include "server/engine/origins.h"

namespace profd {

inline constexpr std::string_view kPairsScheme = "pairs";

// The URI of a role; `of` is the URI of a profile, with its "#NAME" where it has one.
std::string pairs_uri(std::string_view of, std::string_view table, std::string_view role);
// `member`: which profile of `of`, "" the first; `table` and `role` as above, "" left out.
OriginPtr role_origin(OriginPtr of, std::string member, std::string table, std::string role);
// `invalid` for what is no such URI. Whether the profile has such records is known when it is loaded.
Result<OriginPtr> role_origin(std::string_view uri, const OpenOptions& options, const Origins& origins);

}  // namespace profd
