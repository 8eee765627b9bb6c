// The window of time that an answer is about.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "core/support/result.h"
#include "server/feature/text.h"

namespace profd {

struct TimeWindow {
  std::int64_t from = 0, to = 1;
};

// What is asked for, else all there is. Fails with `invalid` for a window that is none, or too long.
inline Result<TimeWindow> time_window(std::int64_t begin, std::int64_t end, std::optional<std::int64_t> from,
                                      std::optional<std::int64_t> to) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 4;
  const TimeWindow out{from.value_or(begin), to.value_or(end)};
  if (out.to <= out.from)
    return fail(ErrorCode::invalid, "the window of time ends before it begins, or with it");
  if (out.from < -kFar || out.to > kFar) return fail(ErrorCode::invalid, "the window of time is too long");
  return out;
}

// "40.0 ms"; "" where nothing took any time.
inline std::string length_text(std::int64_t ns) {
  return ns == 0 ? std::string() : format_duration_ns(ns);
}

}  // namespace profd
