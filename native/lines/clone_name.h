// Names that compilers give to copies and parts of a function.
#pragma once

#include <string>
#include <string_view>

namespace profd::native {

// Without what is appended to clones and parts: ".constprop.0", ".isra.0", ".part.3", ".cold", ".lto_priv.0",
// ".llvm.123", also several of them.
std::string_view without_clone_suffix(std::string_view symbol);

// A mangled C++ name with the clones C2 and C4 of a constructor written as C1, D2 and D4 of a destructor as
// D1; other names as they are. D0, which frees the object as well, stays apart.
std::string with_one_structor(std::string_view symbol);

// Whether a name of the debug information ("insert", "main") may be how `symbol` is spelt without its
// parents.
bool is_bare_spelling(std::string_view name, std::string_view symbol);

}  // namespace profd::native
