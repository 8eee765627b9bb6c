// The words of a command line that is given as one text, without a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"

namespace profd {

// Blanks separate words. 'Single quotes' keep all between them, "double quotes" all but \" and \\; outside of
// quotes a backslash keeps the next character. Nothing else has a meaning: no variables, patterns, pipes.
// `invalid` where a quote is left open, a backslash ends the text, or there is no word.
Result<std::vector<std::string>> split_command(std::string_view text);

}  // namespace profd
