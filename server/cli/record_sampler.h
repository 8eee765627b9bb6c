// A sampler that is attached to a program which was just started: tried until the program is one that it can
// read. So the program stays a child of whoever started it, with its exit code.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/support/result.h"
#include "server/cli/record_choice.h"
#include "server/cli/record_patience.h"

namespace profd {

// On the thread that waits for the program; one at a time.
class BesideSampler {
 public:
  // `kPidWord` in `argv` stands for the program's id. What the sampler says goes into the file `log`.
  BesideSampler(std::vector<std::string> argv, std::string log);
  ~BesideSampler();  // ends it
  BesideSampler(const BesideSampler&) = delete;
  BesideSampler& operator=(const BesideSampler&) = delete;

  // To be called every now and then while the program runs. `io` when the sampler has ended and another try
  // is of no use, with its last words.
  Result<void> look(pid_t program);
  // The program has ended: waits until the sampler has written what it has, and hurries it when that takes
  // long.
  void finish(const Patience& patience);

 private:
  Result<void> start(pid_t program);
  std::string last_words() const;

  std::vector<std::string> argv_;
  std::string log_;
  pid_t pid_ = -1;
  bool done_ = false;
  std::chrono::steady_clock::time_point begin_, attached_;
};

}  // namespace profd
