// Counters as clients get them: their points in a window of time, with names and texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layout/counter_points.h"
#include "server/feature/view_answer.h"

namespace profd {

struct CountersRequest {
  OpenProfilePtr open;
  ViewSpec spec;
  std::optional<std::int64_t> from, to;
  std::uint32_t columns = 600, limit = 20;
  std::string search;  // of name, unit or owner, whatever its case
};

struct CountersAnswer {
  ViewHead head;
  std::int64_t begin = 0, end = 1, from = 0, to = 1;
  struct Counter {
    std::uint32_t id = 0;
    std::string name, unit, owner;
    bool sums = false;
    CounterPoints points;
    double low = 0, high = 0;  // in the window, with what holds as it begins
    std::string low_text, high_text, last_text;
  };
  std::vector<Counter> counters;  // by owner and name
  std::uint32_t count = 0;        // of those that were searched for
  std::string left_text;          // "" none is left out
};
Needs needs_of(const CountersRequest& request);
// Fails with `invalid` for a profile without times, and a window that is none.
Result<CountersAnswer> counters_answer(Views& views, const CountersRequest& request, const StopToken& stop);

}  // namespace profd
