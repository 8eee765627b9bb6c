// Executor: how core runs independent pieces side by side without owning a thread.
#pragma once

#include <cstddef>
#include <functional>

namespace profd {

class Executor {
 public:
  virtual ~Executor() = default;
  // How many pieces are worth making for full use of the machine.
  virtual unsigned width() const = 0;
  // Calls task(0..n-1), in any order and on any thread, and returns when all are done. Tasks work for the
  // caller's Account. When one throws, those that have not begun are left out, and the first exception comes
  // out of here once the others are over.
  virtual void run(std::size_t n_tasks, const std::function<void(std::size_t)>& task) = 0;
};

class SerialExecutor final : public Executor {
 public:
  unsigned width() const override { return 1; }
  void run(std::size_t n_tasks, const std::function<void(std::size_t)>& task) override {
    for (std::size_t i = 0; i < n_tasks; ++i) task(i);
  }
};

}  // namespace profd
