// How pyinstrument writes a frame in one string: `function NUL file NUL line`, then attributes, each behind
// \x01.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/profile_builder.h"

namespace profd::pyinstrument {

struct FrameInfo {
  std::string_view function, file, class_name;
  std::int64_t first_line = 0;  // of the function
  std::int64_t line = 0;        // executing; 0 unknown
};

FrameInfo parse_frame_info(std::string_view text);
// One attribute without its \x01: `cStack`, `l12`.
void apply_attribute(std::string_view attribute, FrameInfo& info);

// `[self]`, `[await]` and the like: time of the frame above, in words.
bool is_self(std::string_view function);
FrameId make_frame(const FrameInfo& info, ProfileBuilder& builder);

}  // namespace profd::pyinstrument
