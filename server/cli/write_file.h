// Writing a result to a file: whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "core/support/result.h"

namespace profd {

// Writes beside the target and renames, so that a failure leaves what was there.
Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace profd
