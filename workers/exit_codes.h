// What processes that work for the daemon end with.
#pragma once

namespace profd {

// There was no memory within their bounds.
constexpr int kWorkerOutOfMemory = 3;
// The system does not let them give up what they must not call.
constexpr int kWorkerNotConfined = 4;

}  // namespace profd
