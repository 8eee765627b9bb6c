// From ticks of an agent's clock to nanoseconds of a session, which begins with its `hello`.
#pragma once

#include <cstdint>

#include "core/support/hash.h"

namespace profd::live {

class StreamClock {
 public:
  StreamClock() = default;
  // A second has `ticks_per_second` ticks, 1 to kFastest; the session begins at `ticks`.
  StreamClock(std::uint64_t ticks, std::uint64_t ticks_per_second) : base_ticks_(ticks) {
    set_rate(ticks_per_second);
  }
  // From `ticks` on a second has another number of them. What was before stays.
  void pair(std::uint64_t ticks, std::uint64_t ticks_per_second) {
    base_ns_ = to_ns(ticks);
    base_ticks_ = ticks;
    set_rate(ticks_per_second);
  }
  // Below kEnd; below 0 for what was before the session or, at another rate, before the newest pair.
  [[nodiscard]] std::int64_t to_ns(std::uint64_t ticks) const {
    if (ticks >= base_ticks_) return clipped(base_ns_, ticks - base_ticks_);
    return base_ns_ - clipped(0, base_ticks_ - ticks);
  }

  static constexpr std::uint64_t kFastest = 1'000'000'000'000;
  static constexpr std::int64_t kEnd = std::int64_t{1} << 61;

 private:
  // Of fixed point with 32 bits behind it: exact for nanoseconds.
  void set_rate(std::uint64_t ticks_per_second) { factor_ = (1'000'000'000ull << 32) / ticks_per_second; }
  [[nodiscard]] std::int64_t clipped(std::int64_t from, std::uint64_t ticks) const {
    const Wide ns = static_cast<Wide>(ticks) * factor_ >> 32;
    const Wide left = static_cast<Wide>(kEnd - from);
    return from + static_cast<std::int64_t>(ns < left ? ns : left);
  }

  std::uint64_t base_ticks_ = 0, factor_ = 1ull << 32;
  std::int64_t base_ns_ = 0;
};

}  // namespace profd::live
