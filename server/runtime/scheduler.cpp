#include "server/runtime/scheduler.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <system_error>

#include "core/support/account.h"

namespace profd {

// Pieces are taken from a shared counter by helpers on the bulk lane and by the caller itself. The caller
// waits only for pieces that have been taken, never for a helper that has not started.
class Scheduler::WorkerExecutor final : public Executor {
 public:
  explicit WorkerExecutor(Scheduler& scheduler) : scheduler_(scheduler) {}

  // Bulk workers and the caller; the interactive worker does not help.
  unsigned width() const override {
    return std::max(1u, scheduler_.n_threads_ > 0 ? scheduler_.n_threads_ - 1 : 0);
  }

  void run(std::size_t n_tasks, const std::function<void(std::size_t)>& task) override {
    if (n_tasks == 0) return;
    auto job = std::make_shared<Job>(n_tasks, &task);
    const std::size_t n_helpers =
        scheduler_.n_threads_ < 2 ? 0 : std::min<std::size_t>(n_tasks - 1, scheduler_.n_threads_ - 2);
    try {
      for (std::size_t i = 0; i < n_helpers; ++i)
        scheduler_.submit(Lane::bulk, "piece", [job] { job->take_pieces(); });
    } catch (
        const std::exception&) {  // no memory for more help: who has come helps, the caller does the rest
    }
    job->take_pieces();
    job->wait();
    if (job->thrown) std::rethrow_exception(job->thrown);
  }

 private:
  struct Job {
    Job(std::size_t n, const std::function<void(std::size_t)>* f) : n_tasks(n), task(f) {}

    // `task` lives as long as run() waits, and run() waits for every piece taken.
    void take_pieces() {
      while (true) {
        const std::size_t i = next.fetch_add(1);
        if (i >= n_tasks) return;
        std::exception_ptr exception;
        if (!failed) {
          const Account::Scope scope(account);
          try {
            (*task)(i);
          } catch (...) {
            exception = std::current_exception();
            failed = true;
          }
        }
        const std::lock_guard lock(mutex);
        if (exception && !thrown) thrown = std::move(exception);
        if (++n_done == n_tasks) done.notify_all();
      }
    }
    void wait() {
      std::unique_lock lock(mutex);
      done.wait(lock, [this] { return n_done == n_tasks; });
    }

    const std::size_t n_tasks;
    const std::function<void(std::size_t)>* task;
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::condition_variable done;
    std::size_t n_done = 0;
    std::exception_ptr thrown;  // the first; later pieces are left out
    std::atomic<bool> failed{false};
    Account* const account = Account::current();  // of who waits in run()
  };

  Scheduler& scheduler_;
};

Scheduler::Scheduler(unsigned n_threads, OnException on_exception)
    : n_threads_(n_threads == 1 ? 2 : n_threads),
      on_exception_(std::move(on_exception)),
      executor_(std::make_unique<WorkerExecutor>(*this)) {}

Scheduler::~Scheduler() {
  std::deque<Named> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (auto* lane : {&interactive_, &bulk_}) {
      for (Named& named : *lane) dropped.push_back(std::move(named));
      lane->clear();
    }
  }
  interactive_ready_.notify_all();
  any_ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Scheduler::submit(Lane lane, std::string name, Task task) {
  Named named{std::move(name), std::move(task)};
  if (n_threads_ == 0) {
    run(named);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    if (threads_.empty()) start_threads();
    (lane == Lane::interactive ? interactive_ : bulk_).push_back(std::move(named));
  }
  if (lane == Lane::interactive) interactive_ready_.notify_one();
  any_ready_.notify_one();
}

std::size_t Scheduler::n_tasks(Lane lane) const {
  const std::lock_guard lock(mutex_);
  return lane == Lane::interactive ? interactive_.size() + n_running_interactive_
                                   : bulk_.size() + n_running_bulk_;
}

void Scheduler::start_threads() {
  threads_.reserve(n_threads_);
  // The one for interactive tasks alone comes last: where not all are to be had, those that do both count.
  for (unsigned i = n_threads_; i-- > 0;) try {
      threads_.emplace_back([this, i] { work(i == 0); });
    } catch (const std::system_error&) {
      if (threads_.empty()) throw;
      return;
    }
}

void Scheduler::work(bool interactive_only) {
  std::unique_lock lock(mutex_);
  while (true) {
    auto& ready = interactive_only ? interactive_ready_ : any_ready_;
    ready.wait(lock,
               [&] { return stopping_ || !interactive_.empty() || (!interactive_only && !bulk_.empty()); });
    if (stopping_) return;
    const bool is_interactive = !interactive_.empty();
    auto& queue = is_interactive ? interactive_ : bulk_;
    std::size_t& n_running = is_interactive ? n_running_interactive_ : n_running_bulk_;
    {
      Named named = std::move(queue.front());
      queue.pop_front();
      ++n_running;
      lock.unlock();
      run(named);
    }  // what the task owned goes outside the lock
    lock.lock();
    --n_running;
  }
}

void Scheduler::run(Named& named) const {
  try {
    named.task();
  } catch (const std::exception& exception) {
    if (on_exception_) on_exception_(named.name, exception.what());
  } catch (...) {
    if (on_exception_) on_exception_(named.name, "unknown exception");
  }
}

}  // namespace profd
