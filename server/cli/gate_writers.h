// A gate's answer as text for people and machines. Names of profiles are data in all of them: nothing in one
// reaches a terminal, becomes markup, or ends what it stands in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/cli/terminal.h"
#include "server/feature/gate_answer.h"

namespace profd {

std::string gate_text(const GateAnswer& answer, const Terminal& terminal);

// A comment on a change: what is broken first, its three worst with the paths that grew most, the rest folded
// away. At most kMaxGateMarkdown bytes, and says what is left out.
inline constexpr std::size_t kMaxGateMarkdown = 60'000;
std::string gate_markdown(const GateAnswer& answer);

// SARIF 2.1.0: a result for everything that is broken or undecided (gate_results.h). `root`: the folder that
// paths are relative to, "" none.
std::string gate_sarif(const GateAnswer& answer, std::string_view root);

// GitLab's Code Quality: a list of the same results, broken ones `major`, undecided ones `info`.
std::string gate_gitlab(const GateAnswer& answer, std::string_view root);

// JUnit's XML: a case a rule. Undecided ones are skipped, those without a match errors.
std::string gate_junit(const GateAnswer& answer);

std::string gate_json(const GateAnswer& answer);

// "broken", "undecided", "held"; "no match" for nothing.
std::string_view gate_word(const std::optional<GateVerdict>& verdict);
// "2 rules broken, 1 undecided, 5 held, 1 without a match".
std::string gate_counts(const GateAnswer& answer);
// "The rules are those of .profd.toml."; "" where they stand in no file.
std::string gate_origin(const GateAnswer& answer);

}  // namespace profd
