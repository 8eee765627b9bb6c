// profd-bench-run RESULT PROGRAM [ARGUMENT...]: runs a program and writes what it cost to the file RESULT.
//
// Its own memory is small: on Linux a program's peak counts the memory of the process that forked it, and the
// harness, written in Python, is bigger than many a program under test.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: profd-bench-run RESULT PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child < 0) return 3;
  if (child == 0) {
    execvp(argv[2], argv + 2);
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
