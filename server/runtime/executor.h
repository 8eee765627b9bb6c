// ThreadExecutor: the machine's cores for one command. Threads start at the first run() that has use for
// them, so that a small file pays nothing, and end with the executor.
#pragma once

#include <memory>

#include "core/support/executor.h"

namespace profd {

class ThreadExecutor final : public Executor {
 public:
  // 0 means one thread per core.
  explicit ThreadExecutor(unsigned width = 0);
  ~ThreadExecutor() override;
  unsigned width() const override { return width_; }
  // The caller works too. A run() inside a task, or while another thread's run() is on, is done by its caller
  // alone.
  void run(std::size_t n_tasks, const std::function<void(std::size_t)>& task) override;

 private:
  struct Pool;
  unsigned width_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace profd
