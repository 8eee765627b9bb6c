// Timers: posts tasks to the strand when their time has come. Takes a thread with the first one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>

#include "server/runtime/post.h"

namespace profd {

class Timers {
 public:
  explicit Timers(Post post) : post_(std::move(post)) {}
  ~Timers() { stop(); }
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  // Safe from any thread. Throws where no thread is to be had.
  void after(std::chrono::milliseconds wait, UniqueFunction<void()> task);
  // Nothing is posted any more; what waits is dropped.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  void run();

  Post post_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<Clock::time_point, UniqueFunction<void()>> waiting_;
  std::thread thread_;
  bool stopped_ = false;
};

}  // namespace profd
