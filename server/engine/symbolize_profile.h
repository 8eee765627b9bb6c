// A profile with the names, lines and inlined calls that its binaries give it: gathers what is known by
// address alone, has it looked up, costliest modules first, and applies what comes. Debug information that is
// not here is fetched behind that, where SymbolPlaces::fetch has consent.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/model/symbolize.h"
#include "core/support/result.h"
#include "core/support/stop.h"
#include "server/engine/debug_fetch.h"
#include "server/engine/symbol_lookup.h"
#include "server/engine/symbol_memory.h"

namespace profd {

struct SymbolizeRequest {
  SymbolPlaces places;
  std::vector<std::string> modules;  // names, paths or build ids of those that are meant; empty: all
  // What it has is not asked for again; what is found goes into it. May be null.
  SymbolMemory* memory = nullptr;
};

struct SymbolizeMeans {
  std::string program;  // profd-symbolize
  const SymbolCache& cache;
  WorkerLimits limits = {};
  std::chrono::milliseconds patience{60'000};
  // Revisions on the way are so far apart, and take no more than a fifth of the time. The first one comes at
  // once where part of a large module is known; small ones are waited for as long.
  std::chrono::milliseconds between_revisions{300};
};

struct SymbolizeCalls {
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // addresses; may be empty
  // What is known by now, where more takes its time; may be empty.
  std::function<void(ProfilePtr better)> better;
  // What is being fetched for a module, some times a second; may be empty.
  std::function<void(const std::string& module, const worker::Fetching& so_far)> fetching;
};

// What was looked for of one binary, and what came of it.
struct ModuleLookup {
  std::string name, build_id;  // as the profile has them
  AddressKind kind = AddressKind::unknown;
  std::size_t n_asked = 0;
  ModuleAnswer answer;  // without chunks
  // Servers that may have what is missing, and were not asked as their user did not say so.
  std::vector<std::string> fetch;
};

struct Symbolized {
  ProfilePtr profile;  // the one given, where nothing was found
  std::vector<ModuleLookup> modules;
};

// Blocks, on a worker. What files or their reader do is in the answers; an error is `cancelled`, or a limit
// of the profile that would be made.
Result<Symbolized> symbolize_profile(ProfilePtr profile, const SymbolizeRequest& request,
                                     const SymbolizeMeans& means, const SymbolizeCalls& calls,
                                     const StopToken& stop);

// Some code has an address, and no name or no line: a look at frames alone.
bool has_open_addresses(const Profile& profile);

// Whether a module is one of those that a person names: by path, name or build id.
bool is_module(const std::string& named, std::string_view name, std::string_view build_id);

}  // namespace profd
