// What went wrong with a file, as one or two sentences: what, where, and what to do next.
#pragma once

#include <string>
#include <string_view>

#include "core/support/result.h"

namespace profd {

// "cpu.pprof: the file ends early, at byte 41,202 of sample[912] (gzip member 1)". Without advice.
std::string file_error_text(std::string_view file, const Error& error);
// What can be done about it, "" when nothing is known.
std::string file_error_advice(const Error& error);

}  // namespace profd
