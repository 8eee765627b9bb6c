// A profile as short stable text, for goldens; and the checks every profile must pass.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/open.h"

namespace profd::test {

// Self value by function name, largest first, ties by name.
std::vector<std::pair<std::string, double>> self_by_function(const Profile& profile, MetricId metric);
std::map<std::string, double> selfs(const Profile& profile, MetricId metric);
std::map<std::string, double> selfs(const Profile& profile, std::string_view metric);
// As profilers print it: system name where there is one.
std::vector<std::pair<std::string, double>> self_by_raw_function(const Profile& profile, MetricId metric);

std::string describe_opened(const Result<OpenedFile>& opened);

// "" when all ids are in range and totals are the sums of the self values; else what is wrong.
std::string broken_invariant(const Profile& profile);

}  // namespace profd::test
