// Debug information fetched by build id, by a process of its own (profd-fetch), into a folder of the cache.
// What comes is checked by who reads it, as every other file is.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "core/support/result.h"
#include "core/support/stop.h"
#include "server/engine/fetch_places.h"
#include "workers/fetch_message.h"

namespace profd {

struct FetchMeans {
  std::string program;                         // profd-fetch; fetcher_beside()
  std::chrono::milliseconds patience{60'000};  // that it may say nothing for
};

// profd-fetch, beside profd-symbolize.
std::string fetcher_beside(const std::string& symbolizer);

// Where a file of a build is kept below FetchPlaces::folder, as libdebuginfod has it.
std::string fetched_path(const FetchPlaces& places, const std::string& build_id);

// Whether a file that an address is kept for may be asked for at all: servers, a folder and a build id are
// there. Consent is for the caller to have.
bool can_fetch(const FetchPlaces& places, const std::string& build_id);

// Blocks, on a worker. What came of it, or why nothing did; an error is `cancelled`. `tell` may be empty.
Result<worker::Fetching> fetch_debug_file(const std::string& build_id, const FetchPlaces& places,
                                          const FetchMeans& means,
                                          const std::function<void(const worker::Fetching& so_far)>& tell,
                                          const StopToken& stop);

}  // namespace profd
