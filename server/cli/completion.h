// Completions for shells, and the manual page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/cli/declared.h"

namespace profd {

// Inside single quotes of a POSIX shell.
std::string shell_quoted(std::string_view text);

std::string bash_completion(const std::vector<DeclaredCommand>& commands);
std::string zsh_completion(const std::vector<DeclaredCommand>& commands);
std::string fish_completion(const std::vector<DeclaredCommand>& commands);
// In roff's man macros.
std::string man_page(const std::vector<DeclaredCommand>& commands);

}  // namespace profd
