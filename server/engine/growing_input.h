// Recordings that grow: what comes out of a pipe, and files that a profiler writes on.
#pragma once

#include <memory>
#include <string>

#include "core/support/unique_fd.h"
#include "server/engine/sample_feed.h"

namespace profd {

// What `perf record -o -`, `austin`, or whatever prints folded stacks writes into a pipe. `name`: what the
// session says it is of. Ends in order where the pipe does. `unsupported` for what cannot be cut into pieces.
std::unique_ptr<SampleFeed> pipe_feed(UniqueFd pipe, std::string name);

// A file on which a profiler goes on writing, or that it writes anew each time (`asprof dump`), or a folder
// whose newest file is such a one (the repository of a running JFR). What is there already is nobody's time.
Result<std::unique_ptr<SampleFeed>> file_feed(const std::string& path);

}  // namespace profd
