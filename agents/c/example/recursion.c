/* What one event costs: a recursion of ten calls, with probes and without, best of five. Run it without PROFD_LIVE for the
   cost of probes that are off, and with PROFD_LIVE=file:/tmp/recursion.plive for that of probes that are on. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static volatile unsigned sum;

__attribute__((noinline)) static void probed(unsigned depth) {
    sum += depth;
    if (depth > 1) probed(depth - 1);
    sum += depth; /* Work behind the call: it is no jump. */
}

__attribute__((noinline, no_instrument_function)) static void plain(unsigned depth) {
    sum += depth;
    if (depth > 1) plain(depth - 1);
    sum += depth;
}

__attribute__((no_instrument_function)) static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

__attribute__((no_instrument_function)) static double best(void (*run)(unsigned), int rounds) {
    double least = 1e30;
    for (int i = 0; i < 5; ++i) {
        double begun = nanoseconds();
        for (int n = 0; n < rounds; ++n) run(10);
        double one = (nanoseconds() - begun) / rounds / 10;
        if (one < least) least = one;
    }
    return least;
}

__attribute__((no_instrument_function)) int main(void) {
    double without = best(plain, 200000), with = best(probed, 200000);
    printf("a call: %.2f ns without probes, %.2f with; an event: %.2f ns\n", without, with, (with - without) / 2);
    double begun = nanoseconds();
    for (int i = 0; i < 1000000; ++i) sum += (unsigned)nanoseconds();
    printf("the system's clock: %.2f ns\n", (nanoseconds() - begun) / 1000000);
#if defined(__x86_64__)
    begun = nanoseconds();
    for (int i = 0; i < 10000000; ++i) sum += (unsigned)__builtin_ia32_rdtsc();
    printf("the processor's: %.2f ns\n", (nanoseconds() - begun) / 10000000);
#endif
    return 0;
}
