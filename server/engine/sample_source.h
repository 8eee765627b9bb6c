// What a person names to have a running program sampled.
#pragma once

#include <memory>
#include <string>

#include "server/engine/sample_feed.h"

namespace profd {

// An address of HTTP (a pprof endpoint), of the inspector of Node, or the path of a file that grows.
// `invalid` or `io` for what is none of these.
Result<std::unique_ptr<SampleFeed>> sample_feed_of(const std::string& source);

}  // namespace profd
