// The callFrame objects of V8's profilers: function, script and place of the definition.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/model/profile_builder.h"
#include "formats/support/json_cursor.h"

namespace profd {

struct V8Frame {
  StringId name{0u}, url{0u};
  std::int64_t line = -1;    // as written: 0-based in all but the oldest files, -1 unknown
  std::int64_t column = -1;  // the same
  bool has_script = false;
};

// A member of a callFrame, at its value: takes it or steps over it. `file:` URLs become paths.
void read_v8_frame_member(JsonCursor& in, std::string_view key, ProfileBuilder& builder, V8Frame& frame);
// A whole callFrame object.
V8Frame read_v8_frame(JsonCursor& in, ProfileBuilder& builder);

// None for "(root)". A function without a name is "(anonymous)".
FunctionId v8_function(const V8Frame& frame, ProfileBuilder& builder);
// gc for "(garbage collector)", jit for what a script defines, else native.
FrameKind v8_kind(const V8Frame& frame, const ProfileBuilder& builder);

}  // namespace profd
