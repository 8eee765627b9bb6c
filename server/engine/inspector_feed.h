// Samples of a JavaScript program by the inspector of Node: the profiler of the engine is stopped and started
// again four times a second.
#pragma once

#include <memory>
#include <string_view>

#include "server/engine/sample_feed.h"

namespace profd {

// "ws://127.0.0.1:9229", with a path the target of that path; "inspector:9229", "inspector:HOST:PORT".
bool names_inspector(std::string_view text);
// `invalid` for what is no such address. The main thread is what is sampled, each millisecond.
Result<std::unique_ptr<SampleFeed>> inspector_feed(std::string_view address);

}  // namespace profd
