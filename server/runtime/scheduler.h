// Scheduler: the worker threads of the daemon, in two lanes.
//
// Interactive tasks go first and one worker takes nothing else, so that an `open` of a gigabyte never delays
// a hover. With 0 threads every task runs inside submit(), which is what tests use. Threads start with the
// first task, so an idle daemon has none.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/support/executor.h"
#include "core/support/unique_function.h"
#include "protocol/lane.h"

namespace profd {

// Declared with the messages; what is `inline_` needs no scheduler.
using protocol::Lane;

class Scheduler {
 public:
  using Task = UniqueFunction<void()>;
  // Called when a task throws: its name and what the exception says.
  using OnException = std::function<void(const std::string& name, const std::string& what)>;

  explicit Scheduler(unsigned n_threads, OnException on_exception = {});
  ~Scheduler();  // drops what waits, finishes what runs
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // `name` is what a fault is logged with. An exception ends the task, not the worker; whatever the task
  // owned (a ReplyOnce above all) is destroyed and so answers.
  void submit(Lane lane, std::string name, Task task);

  [[nodiscard]] unsigned n_threads() const { return n_threads_; }
  // Waiting and running tasks of a lane.
  [[nodiscard]] std::size_t n_tasks(Lane lane) const;

  // Runs pieces on bulk workers; the caller takes part, so it is safe from a worker and with 0 threads.
  Executor& executor() { return *executor_; }

 private:
  class WorkerExecutor;
  struct Named {
    std::string name;
    Task task;
  };

  void start_threads();
  void work(bool interactive_only);
  void run(Named& named) const;

  unsigned n_threads_;
  OnException on_exception_;
  std::unique_ptr<Executor> executor_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable interactive_ready_, any_ready_;
  std::deque<Named> interactive_, bulk_;
  std::size_t n_running_interactive_ = 0, n_running_bulk_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace profd
