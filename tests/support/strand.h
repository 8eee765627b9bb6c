// The strand of a test: its own thread, when it asks.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "server/runtime/post.h"

namespace profd::test {

class Strand {
 public:
  Post post() {
    return [this](UniqueFunction<void()> task) {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      posted_.notify_all();
    };
  }
  // Whether anything was posted before the time was up.
  bool run_one(std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
    std::unique_lock lock(mutex_);
    if (!posted_.wait_for(lock, timeout, [&] { return !tasks_.empty(); })) return false;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    return true;
  }
  // Runs what is posted until `done`; false when nothing more is posted for twenty seconds.
  template <class Done>
  bool run_until(Done done) {
    while (!done())
      if (!run_one()) return false;
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<UniqueFunction<void()>> tasks_;
};

}  // namespace profd::test
