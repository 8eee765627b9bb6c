// Writing a result to a file: whole or not at all.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/support/result.h"

namespace profd {

using FileSink = std::function<Result<void>(std::span<const std::byte>)>;

// A regular file appears under its name only when `produce` has written all of it; a failure leaves what was
// there. "-" is stdout; pipes and devices are written through, never replaced; what a link leads to is as
// replaceable_file() says.
Result<void> write_file(const std::string& path, const std::function<Result<void>(const FileSink&)>& produce);
Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace profd
