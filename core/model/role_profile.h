// Records of several contexts as a profile of one of their roles: its samples are the records, each where it
// has that role. Every view, filter and search is then of that role, and what the records have in their other
// roles is asked by the filter `linked` (core/view/spec.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/profile.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

// Among profile.associations(), by name; "" the first. `not_found` says which there are, `invalid` that there
// are none.
Result<std::size_t> find_records(const Profile& profile, std::string_view table);
// Among its roles, by name; `not_found` says which there are.
Result<std::size_t> find_role(const AssociationTable& table, std::string_view role);

// Records of the same contexts and threads in all roles are one sample, which adds them up; its metrics are
// those of the records, and how many there were; its thread is that of the role. A record without the role is
// at a function `(none)` below the root. Frames, functions, contexts and threads have the numbers that they
// have in `profile`; times and labels are not those of records, and left out.
Result<ProfilePtr> role_profile(const Profile& profile, std::size_t table, std::size_t role, StopToken stop);

// The metric that says how many records a sample adds up; left out where the records have one of that name.
inline constexpr std::string_view kRecordsMetric = "records";

// Of a profile made so the records, row i those of sample i, and which role it is of; else null.
struct RoleRecords {
  const AssociationTable* table = nullptr;
  std::size_t role = 0;
};
RoleRecords records_of_samples(const Profile& profile);

}  // namespace profd
