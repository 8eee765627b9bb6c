/* worst SECONDS: calls of a function with probes, each timed; the longest, and how many took more than 100
   microseconds, beside the same of one without. What the system takes for others is in both. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define UNSEEN __attribute__((noinline, no_instrument_function))
static volatile unsigned sum;

__attribute__((noinline)) void probed(void) {
  ++sum;
}
UNSEEN void plain(void) {
  ++sum;
}
UNSEEN static uint64_t now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}
UNSEEN static void timed(void (*run)(void), uint64_t* most, unsigned* late) {
  uint64_t begun = now();
  run();
  uint64_t took = now() - begun;
  if (took > *most) *most = took;
  if (took > 100000) ++*late;
}
UNSEEN int main(int argc, char** argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 4;
  uint64_t with = 0, without = 0, calls = 0;
  unsigned late_with = 0, late_without = 0;
  for (uint64_t end = now() + (uint64_t)(seconds * 1e9); now() < end; ++calls) {
    timed(probed, &with, &late_with);
    timed(plain, &without, &late_without);
  }
  printf("%llu calls; with %.1f us %u late; without %.1f us %u late\n", (unsigned long long)calls, (double)with / 1e3,
         late_with, (double)without / 1e3, late_without);
  return 7;
}
