// Batches of samples with names for the code of which profilers tell addresses alone: perf in a pipe.
#pragma once

#include <memory>

#include "server/engine/sample_feed.h"
#include "server/engine/symbol_files.h"
#include "server/engine/symbolizing.h"

namespace profd {

// What `feed` gives, with names, files, lines and inlined functions as opened profiles get them. The first
// batch waits for its names for long, others for a moment; what has none by then stands by its file, and has
// its name as soon as it is known. `feed` itself where names are not looked up as profiles are opened.
std::unique_ptr<SampleFeed> named_feed(std::unique_ptr<SampleFeed> feed, const SymbolOptions& options,
                                       SymbolPlaces places);

}  // namespace profd
