// What a thread was doing when one of perf's events was counted, as far as the event's name tells.
#pragma once

#include <string_view>

#include "core/model/timeline.h"

namespace profd {

// Names as perf writes them, with modifiers and the unit of a hybrid processor: "cycles:ppp",
// "cpu_core/cycles/".
ThreadState perf_event_state(std::string_view event);

}  // namespace profd
