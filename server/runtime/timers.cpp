#include "server/runtime/timers.h"

#include <new>
#include <utility>

namespace profd {

void Timers::after(std::chrono::milliseconds wait, UniqueFunction<void()> task) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  waiting_.emplace(Clock::now() + wait, std::move(task));
  changed_.notify_one();
}

void Timers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    waiting_.clear();
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Timers::run() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (waiting_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto first = waiting_.begin();
    if (const auto due = first->first; due > Clock::now()) {
      changed_.wait_until(lock, due);
      continue;
    }
    UniqueFunction<void()> task = std::move(first->second);
    waiting_.erase(first);
    lock.unlock();
    try {
      post_(std::move(task));
    } catch (
        const std::bad_alloc&) {  // the task is lost; whoever set it has nothing better to do without memory
    }
    lock.lock();
  }
}

}  // namespace profd
