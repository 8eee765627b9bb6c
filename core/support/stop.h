// StopToken: cancellation that long loops poll cheaply.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/support/result.h"

namespace profd {

class StopSource {
 public:
  void request_stop() { flag_->store(true, std::memory_order_relaxed); }
  bool stopped() const { return flag_->load(std::memory_order_relaxed); }
  std::shared_ptr<const std::atomic<bool>> flag() const { return flag_; }

 private:
  std::shared_ptr<std::atomic<bool>> flag_ = std::make_shared<std::atomic<bool>>(false);
};

// A reason to stop that is more than one flag: "everyone who waits has left". Asked from the working thread.
class StopCondition {
 public:
  virtual ~StopCondition() = default;
  virtual bool stopped() const = 0;
  // Returns a little later when somebody else needs the processor more.
  virtual void make_way() const {}
};

// A default token never stops. Copies observe the same source; each copy has its own check counter,
// so a token is passed by value or reference into a task and not shared between threads.
class StopToken {
 public:
  StopToken() = default;
  explicit StopToken(const StopSource& source) : flag_(source.flag()) {}
  explicit StopToken(std::shared_ptr<const StopCondition> condition) : condition_(std::move(condition)) {}

  bool stop_requested() const {
    return (flag_ && flag_->load(std::memory_order_relaxed)) || (condition_ && condition_->stopped());
  }
  void make_way() const {
    if (condition_) condition_->make_way();
  }
  // Makes way and reads the flag on every 4096th call only.
  bool check() {
    if ((++count_ & 4095u) != 0) return false;
    make_way();
    return stop_requested();
  }
  Result<void> status() const {
    if (stop_requested()) return fail(ErrorCode::cancelled, "cancelled");
    return {};
  }

 private:
  std::shared_ptr<const std::atomic<bool>> flag_;
  std::shared_ptr<const StopCondition> condition_;
  std::uint32_t count_ = 0;
};

}  // namespace profd
