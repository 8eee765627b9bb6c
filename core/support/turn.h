// Turn: a lock that can be waited for and given up on when a StopToken says so.
// (std::timed_mutex would do, but thread sanitizers of the compilers we build with do not see its timed
// locks.)
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "core/support/stop.h"

namespace profd {

class Turn {
 public:
  // Holds the turn until destroyed.
  class Hold {
   public:
    explicit Hold(Turn& turn) : turn_(&turn) {}
    Hold(Hold&& other) noexcept : turn_(std::exchange(other.turn_, nullptr)) {}
    Hold& operator=(Hold&&) = delete;
    ~Hold() {
      if (turn_ != nullptr) turn_->release();
    }

   private:
    Turn* turn_;
  };

  Result<Hold> take(const StopToken& stop) {
    std::unique_lock lock(mutex_);
    while (!free_.wait_for(lock, std::chrono::milliseconds(20), [&] { return !taken_; }))
      PROFD_CHECK(stop.status());
    taken_ = true;
    return Hold(*this);
  }

 private:
  void release() {
    {
      const std::scoped_lock lock(mutex_);
      taken_ = false;
    }
    free_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable free_;
  bool taken_ = false;
};

}  // namespace profd
