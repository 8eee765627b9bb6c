// What the rules of a gate ask of a diff, in numbers: the first half of an answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/compare/gate_judge.h"
#include "core/compare/gate_sums.h"
#include "server/feature/gate_answer.h"

namespace profd {

// A rule on its way: what was asked of the profile, and in numbers.
struct AskedRule {
  const GateRule* rule = nullptr;
  std::uint32_t of = 0;  // row of Composition::of
  std::string unit;
  SubjectSums sums;
  GateNumbers numbers;    // of nothing where it has no match
  std::string unmatched;  // why it has no match; "" it has one
  std::size_t n_small = 0;
};

// Of one request, which outlives it.
class GateAsking {
 public:
  GateAsking(const GateRequest& request, GateStacks stacks, StopToken stop);

  [[nodiscard]] const GateStacks& stacks() const { return stacks_; }

  // Errors as of gate_answer(), without the number of the rule.
  Result<AskedRule> ask(const GateRule& rule) const;
  // Some of the subjects of a rule on one side's functions, as one.
  Result<SubjectSums> together(const AskedRule& asked, const std::vector<std::size_t>& subjects) const;

 private:
  Result<std::uint32_t> metric_of(const std::string& named) const;
  Result<void> set_numbers(const GateRule& rule, const SampleCounts* counts, AskedRule& asked) const;

  const GateRequest& request_;
  GateStacks stacks_;
  const Profile& profile_;
  const Composition& composition_;
  StopToken stop_;
};

}  // namespace profd
