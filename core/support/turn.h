// Turn: a lock that can be waited for and given up on when a StopToken says so.
// (std::timed_mutex would do, but thread sanitizers of the compilers we build with do not see its timed
// locks.)
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
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
    // For what is done meanwhile. Stops as `stop` does, but makes way for nobody while somebody waits for the
    // turn: that one may be whom `stop` makes way for, and both would wait.
    [[nodiscard]] StopToken token(const StopToken& stop) const {
      return StopToken(std::make_shared<const WhileHeld>(stop, turn_->n_waiting_));
    }

   private:
    Turn* turn_;
  };

  Result<Hold> take(const StopToken& stop) {
    std::unique_lock lock(mutex_);
    if (taken_) {
      const Waiting waiting(*n_waiting_);
      while (!free_.wait_for(lock, std::chrono::milliseconds(20), [&] { return !taken_; }))
        PROFD_CHECK(stop.status());
    }
    taken_ = true;
    return Hold(*this);
  }

 private:
  using Count = std::atomic<std::uint32_t>;
  struct Waiting {
    explicit Waiting(Count& of) : n(of) { ++n; }
    ~Waiting() { --n; }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    Count& n;
  };
  struct WhileHeld final : StopCondition {
    WhileHeld(StopToken outer, std::shared_ptr<const Count> waiting)
        : stop(std::move(outer)), n_waiting(std::move(waiting)) {}
    [[nodiscard]] bool stopped() const override { return stop.stop_requested(); }
    void make_way() const override {
      if (n_waiting->load(std::memory_order_relaxed) == 0) stop.make_way();
    }
    const StopToken stop;
    const std::shared_ptr<const Count> n_waiting;
  };

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
  const std::shared_ptr<Count> n_waiting_ = std::make_shared<Count>(0);  // tokens may outlive this
};

}  // namespace profd
