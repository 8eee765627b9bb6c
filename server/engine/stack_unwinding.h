// The stacks of one recording, unwound by a process that reads its binaries (profd-symbolize).
#pragma once

#include <chrono>
#include <string>

#include "core/support/stack_copies.h"
#include "core/support/stop.h"
#include "server/engine/symbol_files.h"
#include "server/platform/worker_process.h"

namespace profd {

struct UnwindMeans {
  SymbolPlaces places;
  std::string program;  // profd-symbolize
  WorkerLimits limits = {};
  std::chrono::milliseconds patience{60'000};
};

// For one recording; not for two threads. The process is started with the first batch and ends with the
// function. When it ends before, or there is none, stacks have where they were and no callers, and a problem.
UnwindStacks unwinder_of(UnwindMeans means, StopToken stop);

}  // namespace profd
