// What the text of one frame in a folded stack says: annotations, and file and line where they are certain.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/model/tables.h"

namespace profd {

struct FrameText {
  std::string_view name;
  std::string_view file = {};
  std::uint32_t line = 0;
  FrameKind kind = FrameKind::native;
  bool inlined = false;
  bool unresolved = false;
};

// Annotations: _[k] kernel, _[j] and _[1] jit, _[0] interpreted, _[i] inlined, _[w] waker.
// `name (file.py:12)` as py-spy and `name - file.rb:12` as rbspy write it become name, file and line.
FrameText parse_frame_text(std::string_view text);

}  // namespace profd
