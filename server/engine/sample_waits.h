// Waiting that ends soon after a stop.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

inline Result<void> wait_until(std::chrono::steady_clock::time_point until, const StopToken& stop) {
  constexpr std::chrono::milliseconds kGlanceAtStop{50};
  while (true) {
    PROFD_CHECK(stop.status());
    const auto now = std::chrono::steady_clock::now();
    if (now >= until) return {};
    std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(kGlanceAtStop, until - now));
  }
}

inline Result<void> wait_for(std::chrono::steady_clock::duration time, const StopToken& stop) {
  return wait_until(std::chrono::steady_clock::now() + time, stop);
}

}  // namespace profd
