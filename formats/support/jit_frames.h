// The frames that a symbol of JIT code stands for.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/support/jitdump.h"

namespace profd {

// An address in the code that a JIT compiler made for a symbol.
struct JitPlace {
  ModuleId module;
  std::uint64_t address = 0;
  bool is_return = false;
  std::uint64_t start = 0, n_bytes = 0;  // of that code
};

// Appends them innermost first: a symbol can name a method and what was inlined into it. `line` is that of
// the innermost one, or null.
void append_jit_frames(ProfileBuilder& builder, std::string_view symbol, const JitPlace& place,
                       const JitLine* line, std::vector<FrameId>& out);

}  // namespace profd
