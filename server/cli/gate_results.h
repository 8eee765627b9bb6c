// What reports for machines list of a gate's answer: everything that is broken or undecided, one by one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "server/feature/gate_answer.h"

namespace profd {

struct GateResult {
  const GateRuleAnswer* rule;
  const GateFinding* finding;
};
struct GateResults {
  std::vector<GateResult> results;  // broken ones first; at most kMaxGateResults
  std::size_t n_left_out = 0;
};
inline constexpr std::size_t kMaxGateResults = 5'000;
// Points into the answer.
GateResults gate_results(const GateAnswer& answer);

// "main.parseRow: 3.44 s → 4.72 s, +1.26 s (+36 %). It is past the limit, beyond noise. Rule: …"
std::string gate_message(const GateResult& result);
// What tells that a result of two runs of a gate is the same: of the rule and of what it found, no line.
std::string gate_fingerprint(std::string_view rule, std::string_view found);
// Of a profile's file: relative to `root` where it is below it, with forward slashes and without "." and
// "..", so never outside of the folder; "unknown" for nothing. `root` "": none.
std::string gate_path(std::string_view file, std::string_view root);

}  // namespace profd
