// StatedView: what a source without stacks states, by key and for one metric. Views take it in place of sums
// over the tree, which of such a profile is an estimate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/model/profile.h"
#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/view/keys.h"

namespace profd {

// Which of the two numbers of a row or node are estimates, as bits.
using Estimate = std::uint8_t;
inline constexpr Estimate kExact = 0, kSelfEstimated = 1, kTotalEstimated = 2, kBothEstimated = 3;

struct StatedView {
  struct Neighbour {
    Key key;
    bool known;  // false: there were calls, what they cost is not stated
    Value total;
  };
  // By Key.
  std::vector<std::uint8_t> described;  // the source names it; else it is scaffolding of the estimated tree
  std::vector<std::uint8_t> known;      // `total` is the source's
  std::vector<Value> self, total;
  // The source says what calls cost in this metric; else the lists are empty. Functions only.
  bool has_calls = false;
  std::vector<std::uint32_t> first_caller, first_callee;  // by Key, one more than there are keys
  std::vector<Neighbour> caller, callee;                  // of one key together, heaviest first

  std::size_t memory() const;
};

// A number of calls, which says how often a function was called and nothing of what was called below it: its
// total is its self, whatever else is estimated. Only of sources that have calls and no stacks.
bool counts_calls(const Profile& profile, MetricId metric);

// What of the total no known caller accounts for: the function was entered from outside.
Value not_called(const StatedView& stated, Key key, const Value& total);

// Null where the source states nothing at this granularity: files and modules.
// Functions: their totals and calls as stated. Lines and addresses: self and what the calls made there cost.
Result<std::shared_ptr<const StatedView>> make_stated_view(const Profile& profile, const KeyTable& keys,
                                                           MetricId metric, StopToken stop);

}  // namespace profd
