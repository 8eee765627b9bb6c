// What stands above rows of code: the source line that they are of, and what it was inlined into.
#pragma once

#include <string>
#include <vector>

#include "server/feature/disassembly_answer.h"

namespace profd {

// `files` are those that rows and calls have as numbers.
CodeHeadings code_headings(const InstructionColumns& rows, const InlinedCalls& calls,
                           const std::vector<std::string>& files);

}  // namespace profd
