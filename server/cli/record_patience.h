// How long something that was asked to end has for it.
#pragma once

#include <chrono>

namespace profd {

struct Patience {
  std::chrono::milliseconds after_interrupt{5000}, after_term{2000};
};

}  // namespace profd
