// Deep equality of profiles, naming the first column that differs.
#pragma once

#include <string>

#include "core/model/profile.h"

namespace profd::test {

// "" when equal, else what differs.
std::string difference(const Profile& a, const Profile& b);

}  // namespace profd::test
