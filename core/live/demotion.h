// Which methods lose their probes, so that a program under the probe stays about as quick as it is without:
// those that are called so often that the probe costs more than it tells.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/live/window.h"

namespace profd::live {

struct DemotionRule {
  double calls_per_second = 50'000;  // more than that, and
  double mean_self_ns = 1'000;       // less than that a call
  double event_cost_ns = 0;          // of one record, in the program; 0: not known, no budget
  double budget = 0.10;              // share of busy threads' time: more, and 0.3 of it is aimed at
};

// What one record costs the program, in nanoseconds: what agents of the language have been measured at; 0 for
// others.
double event_cost_of(std::string_view language);

// Share of the busy time of `window` that its records cost; 0 where that is not known.
double probe_share(const WindowSum& window, double event_cost_ns);

// Of `window`, which is a bucket or several. `keep`: by method, true where a person wants its probe; may be
// shorter. In order of calls, the most first.
std::vector<MethodId> methods_to_demote(const WindowSum& window, const DemotionRule& rule,
                                        const std::vector<bool>& keep);

}  // namespace profd::live
