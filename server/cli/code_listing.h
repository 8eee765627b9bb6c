// Instructions for terminals: a row an instruction, the source lines that they are of, arrows of jumps.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "server/cli/console.h"
#include "server/feature/disassembly_answer.h"

namespace profd {

enum class CodeMode : std::uint8_t { mixed, assembly, source };

struct ListingOptions {
  CodeMode mode = CodeMode::mixed;
  double min_share = 1;  // percent: rows below it are left out where none that is shown is beside them
  bool bytes = false;
};

// The text of a line of a file of this machine; nothing where it is not known.
using SourceLine = std::function<std::optional<std::string>(const std::string& path, std::uint32_t line)>;

std::string code_listing(const DisassemblyAnswer& answer, const ListingOptions& options,
                         const SourceLine& source, const Console& console);

}  // namespace profd
