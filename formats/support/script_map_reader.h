// Source maps, version 3 (ECMA-426), of one map or of sections: the JSON text of one into a ScriptMap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/source/script_map.h"
#include "core/support/result.h"

namespace profd {

struct ScriptMapLimits {
  std::size_t n_segments = std::size_t{16} << 20;
  std::size_t n_texts = std::size_t{4} << 20;  // sources and names
  std::size_t n_sections = 100'000;            // of all levels
  std::uint32_t section_depth = 8;
};

// The text may begin with a byte order mark and with a line ")]}'". Names of sources have their sourceRoot
// before them; those that are null are none. What is wrong anywhere makes the whole map `malformed`, with the
// byte where; sections that are elsewhere (`url`) are `unsupported`.
Result<ScriptMap> read_script_map(std::string_view text, const ScriptMapLimits& limits = {});

}  // namespace profd
