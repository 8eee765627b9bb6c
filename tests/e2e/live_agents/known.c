/* known ROUNDS [often]: waits for a line, then runs functions and prints what each round took in them. With 0
   rounds it goes on until its input is closed. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define UNSEEN __attribute__((noinline, no_instrument_function))
static volatile unsigned sum;

UNSEEN static long long now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000LL + at.tv_nsec;
}
UNSEEN static void begin(void) {
  char line;
  if (read(0, &line, 1) != 1) exit(4);
}
UNSEEN static int is_open(void) {
  struct pollfd in = {0, POLLIN, 0};
  return poll(&in, 1, 0) == 0;
}
__attribute__((noinline)) void heavy(void) {
  for (unsigned i = 0; i < 2000000; ++i) sum += i;
}
__attribute__((noinline)) void light(void) {
  for (unsigned i = 0; i < 100000; ++i) sum += i;
}
__attribute__((noinline)) void waits(void) {
  struct timespec time = {0, 5000000};
  nanosleep(&time, NULL);
  ++sum;
}
__attribute__((noinline)) void tiny(void) {
  ++sum;
}
__attribute__((noinline)) void often(void) {
  for (unsigned i = 0; i < 20000; ++i) tiny();
  ++sum;
}
int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 0;
  begin();
  for (int done = 0; rounds > 0 ? done < rounds : is_open(); ++done) {
    long long at[4];
    at[0] = now();
    heavy();
    at[1] = now();
    light();
    at[2] = now();
    waits();
    at[3] = now();
    if (argc > 2) often();
    printf("heavy %lld light %lld waits %lld\n", at[1] - at[0], at[2] - at[1], at[3] - at[2]);
  }
  puts("done");
  return 3;
}
