#include "server/runtime/executor.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/support/account.h"

namespace profd {

struct ThreadExecutor::Pool {
  std::mutex mutex;
  std::condition_variable wake, idle;
  std::vector<std::thread> threads;
  const std::function<void(std::size_t)>* task = nullptr;
  std::size_t n_tasks = 0;
  std::atomic<std::size_t> next{0};
  std::uint64_t round = 0;
  Account* account = nullptr;
  std::exception_ptr thrown;  // the first
  unsigned n_busy = 0;
  bool ending = false;
  std::atomic<bool> running{false};

  void work() {
    try {
      for (std::size_t i = next.fetch_add(1); i < n_tasks; i = next.fetch_add(1)) (*task)(i);
    } catch (...) {
      next = n_tasks;
      const std::lock_guard lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  }

  void serve() {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [&] { return ending || round != seen; });
      if (ending) return;
      seen = round;
      lock.unlock();
      {
        const Account::Scope scope(account);
        work();
      }
      lock.lock();
      if (--n_busy == 0) idle.notify_one();
    }
  }
};

ThreadExecutor::ThreadExecutor(unsigned width)
    : width_(width > 0 ? width : std::max(1u, std::thread::hardware_concurrency())),
      pool_(std::make_unique<Pool>()) {}

ThreadExecutor::~ThreadExecutor() {
  {
    const std::lock_guard lock(pool_->mutex);
    pool_->ending = true;
  }
  pool_->wake.notify_all();
  for (std::thread& thread : pool_->threads) thread.join();
}

void ThreadExecutor::run(std::size_t n_tasks, const std::function<void(std::size_t)>& task) {
  Pool& pool = *pool_;
  if (n_tasks <= 1 || width_ == 1 || pool.running.exchange(true)) {
    for (std::size_t i = 0; i < n_tasks; ++i) task(i);
    return;
  }
  {
    const std::lock_guard lock(pool.mutex);
    try {
      pool.threads.reserve(width_);
      while (pool.threads.size() + 1 < width_) pool.threads.emplace_back([&pool] { pool.serve(); });
    } catch (const std::exception&) {  // no more threads to be had: those that are there do it
    }
    pool.task = &task;
    pool.n_tasks = n_tasks;
    pool.next = 0;
    pool.account = Account::current();
    pool.n_busy = static_cast<unsigned>(pool.threads.size());
    ++pool.round;
  }
  pool.wake.notify_all();
  pool.work();
  std::unique_lock lock(pool.mutex);
  pool.idle.wait(lock, [&] { return pool.n_busy == 0; });
  pool.task = nullptr;
  const std::exception_ptr thrown = std::exchange(pool.thrown, nullptr);
  pool.running = false;
  lock.unlock();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace profd
