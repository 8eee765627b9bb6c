// Writing a result to a file: whole or not at all, and never over what was read.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/support/result.h"

namespace CLI {
class App;
}

namespace profd {

using FileSink = std::function<Result<void>(std::span<const std::byte>)>;

struct OutputFile {
  std::string path;    // "-" is stdout; "" none
  bool force = false;  // what is there is replaced
};

// Declares --force.
void add_force(CLI::App& app, OutputFile& output);

// Whether `output` can be written after `input` (a file, a folder, "-" for stdin) was read: an `invalid`
// error when it is the input by whatever path or link, or lies in the input folder and is there; when
// something is there and --force was not given. To be asked before anything is read, so that no work is lost.
Result<void> check_output(const OutputFile& output, const std::string& input);

// A regular file appears under its name only when `produce` has written all of it; a failure leaves what was
// there. Without `force` a file that came there meanwhile is left alone, too. Pipes and devices are written
// through, never replaced; what a link leads to is as replaceable_file() says. Errors of the file begin with
// its path.
Result<void> write_file(const OutputFile& output,
                        const std::function<Result<void>(const FileSink&)>& produce);
Result<void> write_file(const OutputFile& output, std::string_view content);

// Something that is there and no regular file: a pipe, a device.
bool is_written_through(const std::string& path);

}  // namespace profd
