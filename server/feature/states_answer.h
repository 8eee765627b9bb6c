// States of threads, and what blocked ones waited for, of a profile with the events of a scheduler
// (core/waits/wait_metrics.h says which metrics these are).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/feature/view_answer.h"

namespace profd {

struct StatesRequest {
  OpenProfilePtr open;
  ViewSpec spec;           // filters by thread, label and time
  std::size_t limit = 20;  // threads, and chains, at most
};

// Shares are of the wall time.
struct ThreadStatesRow {
  std::string name;    // "main (12)"
  std::string filter;  // the clause that keeps it
  Amount wall, on_cpu, blocked, runnable, unknown;
};
struct ChainFrame {
  std::string name;
  bool kernel = false;
};
struct ChainRow {
  std::vector<ChainFrame> frames;  // outermost first; kWakerMark before the stack of each waker
  Amount amount;                   // shares are of all time blocked
};
struct StatesAnswer {
  ViewHead head;
  ThreadStatesRow all;
  std::vector<ThreadStatesRow> threads;
  std::size_t n_threads = 0;  // those that are not listed, too
  std::vector<ChainRow> chains;
  std::size_t n_chains = 0;
  struct Look {
    std::string title, spec;
  };
  std::vector<Look> views;
  std::string verdict;  // a sentence
};

// Fails with `invalid`, and a sentence that says why, for a profile without such metrics and for filters that
// are not by thread, label or time.
Result<StatesAnswer> states_answer(Views& views, const StatesRequest& request, const StopToken& stop);
Needs needs_of(const StatesRequest& request);

}  // namespace profd
