// Linker names as people read them: C++ (Itanium) and Rust (legacy mangling and v0).
#pragma once

#include <string>
#include <string_view>

namespace profd {

// `symbol` unchanged when it is no mangled name, is ill-formed, is longer than kMaxMangledName, or refers to
// its own parts so often that the text could become very long.
// An ELF version ("@@GLIBC_2.2.5", "@plt") is kept behind the demangled name.
inline constexpr std::size_t kMaxMangledName = 4096;
std::string demangle(std::string_view symbol);

}  // namespace profd
