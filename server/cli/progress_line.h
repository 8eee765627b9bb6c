// One line on stderr that says how far something is, for what takes over half a second. Terminals only.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "server/cli/console.h"

namespace profd {

class ProgressLine {
 public:
  // "Reading WHAT: ..."
  ProgressLine(const Console& console, std::string what, std::string deed = "Reading");
  ~ProgressLine();  // wipes the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  // From any thread.
  void update(std::uint64_t done, std::uint64_t total);
  // The same in words: "28 %, 120 of 430 MB".
  void update(const std::string& how_far);

 private:
  const Console& console_;
  std::string what_, deed_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point next_;
  bool shown_ = false;
};

}  // namespace profd
