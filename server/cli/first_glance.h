// The first glance at a profile: what `profd FILE` prints.
#pragma once

#include <cstdint>
#include <string>

#include "server/cli/profile_options.h"

namespace profd {

struct FirstGlance {
  std::string text;
  OpenView view;                // for keep_in_cache()
  std::uint64_t n_records = 0;  // 0 also of formats that hold sums alone
  std::uint64_t n_lost = 0;     // records that the profiler says it lost
  bool measured = false;        // a function has a value
};

// With the colours and the width of `console.out`. An error's message is whole, the file's name included.
Result<FirstGlance> first_glance_of(const ProfileOptions& options, const Console& console,
                                    Executor& executor);

}  // namespace profd
