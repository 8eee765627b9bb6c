// The `# key : value` lines that `perf script --header` prints first.
#pragma once

#include <string_view>

#include "core/model/profile.h"

namespace profd::perf_script {

void read_comment(std::string_view line, ProfileInfo& info);

}  // namespace profd::perf_script
