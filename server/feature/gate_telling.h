// What a gate found, in words and with its place: the second half of an answer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/feature/gate_asking.h"

namespace profd {

class GateTelling {
 public:
  // By metric (row of Composition::of), of functions that have what others lost: how that reads.
  using MovedTo = std::map<std::uint32_t, std::map<Key, std::string>>;

  // All outlive it; `sources` may be null.
  GateTelling(const GateStacks& stacks, const SourceMap* sources, const MovedTo& moved)
      : stacks_(stacks), sources_(sources), moved_(moved) {}

  // `s`: of the rule's subjects.
  [[nodiscard]] GateFinding finding(const AskedRule& asked, std::size_t s, const GateJudgement& at) const;

 private:
  [[nodiscard]] std::string name_of(const AskedRule& asked, std::size_t s) const;
  void set_place(const AskedRule& asked, std::size_t s, GateFinding& out) const;
  void note_moved(const AskedRule& asked, Key grown, GateFinding& out) const;

  const GateStacks& stacks_;
  const SourceMap* sources_;
  const MovedTo& moved_;
};

// Of a rule as a whole, a sentence.
std::string gate_rule_text(const GateRuleAnswer& answer, bool each);
// See GateAnswer::noise.
std::string gate_noise_text(const GateAnswer& answer, const std::vector<AskedRule>& asked);

}  // namespace profd
