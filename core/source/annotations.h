// Per-line values of one source file, for every metric of a profile.
// total of a line: stacks that pass through the line, each once; self: stacks whose leaf is there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"
#include "core/support/stop.h"

namespace profd {

struct LineValues {
  std::vector<std::uint32_t> line;              // 1-based, ascending
  std::vector<std::vector<Value>> self, total;  // [metric][row]
};

// `files`: the profile's own spellings (StringIds of frame files) that mean the file asked for.
Result<LineValues> annotate_lines(const Profile& profile, const std::vector<StringId>& files, StopToken stop);

}  // namespace profd
