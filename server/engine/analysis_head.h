// What a script says of itself: comments before its first statement, read without running it.
//
//   -- @title Calls of a module into itself are one call
//   -- @profiles 1            how many it is of; or 2..8
//   -- @arg module string "" Modules alone whose name has this in it
//   -- @arg rows integer 20 Rows of the table
//
// Types of arguments are string (its default in double quotes, or a word), number, integer, boolean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/support/result.h"
#include "workers/script.h"

namespace profd {

struct AnalysisArgument {
  std::string name;
  worker::ScriptType type = worker::ScriptType::text;
  std::string value;  // by default
  std::string documentation;
};

struct AnalysisHead {
  std::string title;
  std::uint32_t min_profiles = 1, max_profiles = 1;
  std::vector<AnalysisArgument> arguments;
};

// At most this many profiles at once.
inline constexpr std::uint32_t kMostOfAnalysis = 64;

// `malformed`, with the line as `line N` in `where`.
Result<AnalysisHead> parse_analysis_head(std::string_view text);

using GivenArguments = std::vector<std::pair<std::string, std::string>>;
// All arguments of a run, those that are given and the defaults of the others. `invalid`, as a sentence that
// says which there are, for one that the script has not, or of another type.
Result<std::vector<worker::ScriptArgument>> bind_arguments(const AnalysisHead& head,
                                                           const GivenArguments& given);

// "1 profile", "2 to 8 profiles".
std::string profiles_text(const AnalysisHead& head);
// "string", "number", "integer", "boolean".
std::string_view to_text(worker::ScriptType type);

}  // namespace profd
