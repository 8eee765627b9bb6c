// What of a profile its filters let through, beside sums over contexts: whole stacks, and moments of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/view/selection.h"

namespace profd {

// 1 by context: its stack passes the filters of functions, modules, files and fragments. Empty without such.
Result<std::vector<std::uint8_t>> stacks_that_pass(const Selection& selection, StopToken& stop);

// Whether something of a timeline passes the filters by thread, label and time: it has a thread (kNone:
// unknown), a begin and an end (kNoTime: unknown), and no labels. What a filter that keeps cannot tell of
// does not pass. A window of time keeps all that reaches into it, and drops what lies in it whole. Null: all
// of it passes. Does not outlive the selection.
using Moments = std::function<bool(std::uint32_t thread, std::int64_t begin, std::int64_t end)>;
Result<Moments> moments_that_pass(const Selection& selection, const StopToken& stop);

}  // namespace profd
