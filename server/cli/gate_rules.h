// Which rules a gate is asked with, and where they stand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/compare/gate_rule.h"
#include "server/cli/console.h"

namespace profd {

struct GivenRules {
  std::vector<GateRule> rules;
  // In words, "../.profd.toml", "gate.txt and of the command line"; "" the command line alone.
  std::string from;
  // What that file says of them, where it is .profd.toml.
  std::optional<std::string> metric;
  std::optional<bool> undecided_fails, allow_empty;
};

// `texts`: of the command line; `file`: of --rules, a rule a line, "" none. Without both those of
// .profd.toml: such a file has to be right, or a slip in it would pass a gate.
Result<GivenRules> given_rules(std::vector<std::string> texts, const std::string& file,
                               const Console& console);

}  // namespace profd
