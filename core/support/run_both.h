// Two different things side by side on an executor.
#pragma once

#include <exception>
#include <functional>

#include "core/support/executor.h"

namespace profd {

// What either throws is thrown once both are over, the first one's before
// the second's.
inline void run_both(Executor& executor, const std::function<void()>& first,
                     const std::function<void()>& second) {
  std::exception_ptr thrown[2];
  executor.run(2, [&](std::size_t task) {
    try {
      (task == 0 ? first : second)();
    } catch (...) {
      thrown[task] = std::current_exception();
    }
  });
  for (const std::exception_ptr& exception : thrown)
    if (exception) std::rethrow_exception(exception);
}

}  // namespace profd
