// What a gate says of two sides: each rule held, undecided or broken. Plain data; the writers in gate_*.cpp
// only write it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/gate_judge.h"
#include "core/compare/gate_rule.h"
#include "server/feature/places.h"
#include "server/feature/view_answer.h"

namespace profd {

struct GateRequest {
  OpenProfilePtr open;          // a diff
  WorkspaceSnapshot workspace;  // says where functions are; may be empty
  ViewSpec spec;                // granularity and filters; the metric of rules that name none
  std::vector<GateRule> rules;
};
inline constexpr std::size_t kMaxGateRules = 100'000;

// One thing that was judged: all matches of a rule together, or one of `each`.
struct GateFinding {
  std::string
      name;  // "main.parseRow", of a path "main.run > main.parseRow", of all together the rule's words
  GateJudgement judgement;
  std::string before, after;      // "3.44 s", of shares "12.3 %"
  std::string change;             // "+310 ms (+34 %)", "+2.1 points", "new"
  std::string noise;              // "95 %: +21 % to +48 %"; "" unknown
  std::string why;                // a sentence for people, of what is not held
  std::vector<std::string> path;  // of the stack that grew most, root first; empty: none did
  std::optional<Key> key;         // of the function that it is at; nothing: of none
  std::string file;  // below the workspace's folder where it is there, else as the profile says; "" unknown
  std::uint32_t line = 0;  // 0 unknown
};

struct GateRuleAnswer {
  std::string rule;    // in its canonical text
  std::string metric;  // "cpu"
  // Nothing where it has no match.
  std::optional<GateVerdict> verdict;
  std::string why;  // a sentence: what was found, or why there is no match
  // Broken ones first, then undecided ones, each by what they grew; held ones are only counted, but for a
  // rule that is judged as a whole. At most kMaxFindings.
  std::vector<GateFinding> findings;
  std::size_t n_broken = 0, n_undecided = 0, n_held = 0;
  std::size_t n_small = 0;  // of `each`: below kSmallShare of both sides, not judged
};
inline constexpr std::size_t kMaxFindings = 100;
inline constexpr double kSmallShare = 0.001;

struct GateAnswer {
  std::vector<GateRuleAnswer> rules;
  std::string rules_from;  // a file, in words; "" none. Filled in by who took them from there
  std::size_t n_broken = 0, n_undecided = 0, n_held = 0, n_unmatched = 0;  // rules
  std::size_t n_before = 1, n_after = 1;                                   // runs
  std::string
      noise;  // a sentence, "" nothing was judged: what noise was taken into account, and what cannot be seen
  std::string scale;                  // what values before were multiplied with; "" nothing
  std::vector<std::string> warnings;  // why the two sides can hardly be compared
};

// Fails with `not_found` for a metric that the sides do not both have, `invalid` for a rule that cannot be
// asked of them (a unit that is not the metric's, a short name of several functions, a counter of 0), named
// with its number; `limit` for more than kMaxGateRules.
Result<GateAnswer> gate_answer(Views& views, const GateRequest& request, const StopToken& stop);

}  // namespace profd
