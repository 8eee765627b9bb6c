// Samples of a program that serves its profiles by HTTP, as the net/http/pprof of Go does: one short
// recording after the other.
#pragma once

#include <memory>
#include <string_view>

#include "server/engine/sample_feed.h"

namespace profd {

// `address`: "http://127.0.0.1:6060", or with a path and `seconds=N`, whole ones as Go has no others; without
// it a second. `invalid` for what is no address, or for one that records for longer than is live.
Result<std::unique_ptr<SampleFeed>> endpoint_feed(std::string_view address);

}  // namespace profd
