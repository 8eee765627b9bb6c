/* Where functions stand on their thread's stack, and which of them are no more. Private to the probes. */
#ifndef PROFD_LIVE_FRAMES_H
#define PROFD_LIVE_FRAMES_H

#include "core.h"

/* Where the thread runs on a stack of its own making (a signal's, a coroutine's) places say nothing. */
static inline uintptr_t place_of(const struct live_lane* lane, uintptr_t at) {
  return at >= lane->stack_low && at < lane->stack_high ? at : UINTPTR_MAX;
}

/* Frames below this one on the thread's stack are no more: longjmp left them, or an exit is missing. */
static inline void drop_below(struct live_lane* lane, uintptr_t at) {
  uint32_t n = 0;
  while (n < lane->depth && lane->open[lane->depth - 1 - n].at < at) ++n;
  live_pop_many(lane, n);
}

/* The end of a function that is not simply the newest. */
static inline void exit_slow(struct live_lane* lane, uint32_t id, uintptr_t at) {
  if (at != UINTPTR_MAX) drop_below(lane, at);
  for (uint32_t n = 1; n <= lane->depth; ++n) {
    const struct live_open* open = lane->open + lane->depth - n;
    if (at != UINTPTR_MAX && open->at != at && open->at != UINTPTR_MAX) return;
    if (open->id != id) continue;
    live_pop_many(lane, n);
    return;
  }
}

#endif
