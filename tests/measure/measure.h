// What the programs that measure by hand share: threads, clocks, memory.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/resource.h>

#include "core/support/executor.h"
#include "core/support/result.h"

namespace profd::measure {

class Threads final : public Executor {
 public:
  explicit Threads(unsigned width) : width_(width) {}
  unsigned width() const override { return width_; }
  void run(std::size_t n_tasks, const std::function<void(std::size_t)>& task) override {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < n_tasks; i = next++) task(i);
    };
    std::vector<std::thread> threads;
    for (unsigned t = 1; t < width_ && t < n_tasks; ++t) threads.emplace_back(work);
    work();
    for (auto& thread : threads) thread.join();
  }

 private:
  unsigned width_;
};

// Of all threads; unlike the wall clock, it does not count what other processes took.
inline double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

template <class F>
auto timed(const char* what, F f) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  auto result = f();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%-44s %8.3f s  cpu %8.3f s\n", what, took.count(), cpu_seconds() - cpu);
  return result;
}

template <class T>
T check(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", describe(result.error()).c_str());
  std::exit(1);
}

// Of this process, in MiB: "VmHWM" the most there was, "VmRSS" what there is.
inline double mib_of(const std::string& field) {
  std::ifstream lines("/proc/self/status");
  for (std::string line; std::getline(lines, line);)
    if (line.rfind(field + ":", 0) == 0) return std::atof(line.c_str() + field.size() + 1) / 1024;
  return 0;
}

}  // namespace profd::measure
