// Running another program for its answer: bounded in time and output, nothing inherited but what is named.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

struct RunRequest {
  std::vector<std::string> argv;                                 // the program is looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment;  // put over that of this process
  std::string without_prefix;  // variables of this process that begin so are left out; "" none
  std::size_t max_output = std::size_t{1} << 20;  // bytes of standard output
  std::chrono::milliseconds timeout{2000};
  // Its own, and of each program that it starts; 0: as this process has them. On Linux alone.
  std::uint64_t max_memory = 0;  // bytes that it can write to; files that it maps to read do not count
  unsigned max_cpu_s = 0;        // seconds of processor time
  unsigned max_files = 0;        // descriptors
  bool may_write = true;         // false: no byte into a regular file, and no core
};

struct RunAnswer {
  int exit_code = 0;
  std::string output, errors;  // standard output, and the first of standard error
};

// Blocks: for workers only. A program that is not there, takes too long, says too much or dies of a signal is
// an error; it and what it started are ended. Its standard input is empty.
Result<RunAnswer> run_program(const RunRequest& request, StopToken stop);

}  // namespace profd
