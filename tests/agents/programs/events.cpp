// What probes of C and C++ have to bear; c_test.py knows how often everything is called.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profd_live.h"

extern "C" {
volatile int sink;
static std::jmp_buf back;

__attribute__((noinline)) int leaf(int n) {
  return sink = sink + n;
}
__attribute__((noinline)) int deep(int n) {
  return n == 0 ? leaf(1) : deep(n - 1) + 1;
}
__attribute__((noinline)) int tail(int n) {
  return n == 0 ? leaf(1) : tail(n - 1);
}

// Its probe at the end may be jumped to, with its frame gone.
__attribute__((noinline)) void walk(int n) {
  sink = n;
  if (n > 0) {
    walk(n - 1);
    leaf(n);
  }
  sink = 0;
}

__attribute__((noinline)) void jump(int n) {
  if (n == 0) std::longjmp(back, 1);
  jump(n - 1);
  sink = 0;
}
__attribute__((noinline)) void jumps() {
  if (setjmp(back) == 0)
    jump(4);
  else
    leaf(1);
}

__attribute__((noinline)) void thrower(int n) {
  if (n == 0) throw std::runtime_error("x");
  thrower(n - 1);
  sink = 0;
}
__attribute__((noinline)) void catcher() {
  try {
    thrower(3);
  } catch (const std::runtime_error&) {
    leaf(1);
  }
}

__attribute__((noinline)) void on_signal(int) {
  leaf(1);
}
__attribute__((noinline)) void raises() {
  std::raise(SIGUSR1);
}

__attribute__((noinline)) void in_thread(int n) {
  for (int i = 0; i < n; ++i) leaf(1);
}

__attribute__((noinline)) void in_child() {
  leaf(1);
}
__attribute__((noinline)) int forks() {
  const pid_t child = fork();
  if (child == 0) {
    in_child();
    std::exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

using Plugin = int (*)();
__attribute__((noinline)) void loads(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) return;
  reinterpret_cast<Plugin>(dlsym(library, "plugin"))();
  // Longer than the agent takes to tell what it knows.
  usleep(120000);
  dlclose(library);
}
}

static int events(int argc, char** argv) {
  for (int i = 0; i < 3; ++i) deep(5);
  tail(5);
  walk(3);
  jumps();
  jumps();
  catcher();
  std::signal(SIGUSR1, on_signal);
  raises();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(in_thread, 100);
  for (auto& thread : threads) thread.join();
  profd_live_mark("half time");
  const int code = forks();
  for (int i = 2; i < argc; ++i) loads(argv[i]);
  std::printf("child %d\n", code);
  return 3;
}

// Calls until it has made as many as asked, or for ever with 0; `between` calls between two sleeps of a
// millisecond, if not 0.
__attribute__((no_instrument_function)) static int runs(long calls, long between) {
  for (long i = 0; calls == 0 || i < calls; ++i) {
    deep(3);
    if (calls != 0 && i == calls / 2) std::puts("half"), std::fflush(stdout);
    if (between != 0 && i % between == 0) usleep(1000);
  }
  std::printf("done\n");
  return 5;
}

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "run") == 0)
    return runs(std::atol(argv[2]), argc > 3 ? std::atol(argv[3]) : 0);
  return events(argc, argv);
}
