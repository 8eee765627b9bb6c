// Options that are windows or lengths of time.
#pragma once

#include <string>

#include "core/view/spec.h"

namespace profd {

// "10ms..2s", as a filter has it. Fails with a sentence on `--time`.
Result<Filter> window_of(const std::string& text);
// "10ms", in nanoseconds; not below 0.
Result<std::int64_t> length_of(const std::string& option, const std::string& text);

}  // namespace profd
