// Which language most code of a profile is written in: what advice depends on.
#pragma once

#include <cstdint>

#include "core/model/profile.h"

namespace profd {

enum class CodeLanguage : std::uint8_t {
  unknown,
  native,  // compiled to machine code ahead of time: C, C++, Rust, Swift, Fortran
  go,
  python,
  ruby,
  javascript,
  jvm,
  dotnet,
  php,
};

// By the format, where only one language has it; else by the profiler that the file names, else by the files
// of most functions. A profile of several languages is of the one with most functions.
CodeLanguage language_of(const Profile& profile);

}  // namespace profd
