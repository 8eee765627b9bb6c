// profd-bench-run RESULT READY_MB PROGRAM [ARGUMENT...]: runs a program and writes what it cost to the file
// RESULT.
//
// Before that, READY_MB of memory are taken, written and given back. A virtual machine hands memory that
// nobody uses back to its host, and writing there first costs several times as much as it will a second
// later: a cold run starts with the system's memory at hand, as it does with its input in the page cache.
//
// Its own memory is small: on Linux a program's peak counts the memory of the process that forked it, and the
// harness, written in Python, is bigger than many a program under test.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

// In a process of its own, whose peak is nobody's.
void make_memory_ready(std::size_t bytes) {
  const pid_t child = fork();
  if (child == 0) {
    void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) std::_Exit(1);
#ifdef MADV_HUGEPAGE
    madvise(place, bytes, MADV_HUGEPAGE);
#endif
    constexpr std::size_t kPage = 4096;
    for (std::size_t at = 0; at < bytes; at += kPage) static_cast<volatile char*>(place)[at] = 1;
    std::_Exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: profd-bench-run RESULT READY_MB PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  if (const std::size_t ready_mb = std::strtoul(argv[2], nullptr, 10))
    make_memory_ready(ready_mb * 1'000'000);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child < 0) return 3;
  if (child == 0) {
    execvp(argv[3], argv + 3);
    std::_Exit(127);
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child) return 3;
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
#ifdef __APPLE__
  constexpr double kUnit = 1;
#else
  constexpr double kUnit = 1024;
#endif
  std::FILE* result = std::fopen(argv[1], "w");
  if (result == nullptr) return 3;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  std::fprintf(result, R"({"exit":%d,"wall_s":%.6f,"cpu_s":%.6f,"peak_bytes":%.0f})", code, wall,
               seconds(usage.ru_utime) + seconds(usage.ru_stime),
               static_cast<double>(usage.ru_maxrss) * kUnit);
  return std::fclose(result) == 0 ? 0 : 3;
}
