// SymbolLookup: what stands for addresses of modules, from the cache or from processes that read the files
// (profd-symbolize). Two at a time, modules in the order given, large ones shared out among both; one that
// dies takes its share of a module with it and no other.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"
#include "server/engine/symbol_cache.h"
#include "server/engine/symbol_files.h"
#include "server/platform/worker_process.h"
#include "workers/symbols.h"

namespace profd {

struct ModuleQuestion {
  std::string name, build_id;  // as the profile has them
  worker::Addresses kind = worker::Addresses::vaddr;
  std::vector<std::uint64_t> addresses;  // ascending, distinct; of return addresses one less
  std::string reference_symbol = {};     // of Addresses::loaded, and where that was
  std::uint64_t reference_address = 0;
};

struct ModuleAnswer {
  std::vector<worker::Chunk> chunks;  // `asked` counts in the question's addresses
  std::size_t n_known = 0;            // addresses with a function
  bool lines = false;                 // there was debug information
  bool confined = true;               // false: the system has no filter for the process that read the files
  bool unchecked = false;             // SymbolSearch::unchecked()
  bool by_inode = false;              // SymbolSearch::by_inode()
  std::string problem;                // what became of the process, or is wrong with the files; "" nothing
  std::string outside;                // SymbolSearch::outside()
  std::vector<TriedFile> tried;
  std::vector<std::string> missing;  // SymbolSearch::missing()
};

struct LookupMeans {
  const SymbolPlaces& places;
  const SymbolCache& cache;
  std::string program;  // profd-symbolize; symbolizer_path()
  WorkerLimits limits;
  unsigned n_processes = 2;
  // A process that says nothing for so long hangs, and is ended.
  std::chrono::milliseconds patience{60'000};
};

// profd-symbolize beside this program, where both are installed and built.
std::string symbolizer_path();

// Blocks, on a worker. `answered` is called here, once for every question that was looked up, as soon as it
// is, and `partly` before that with what came of one so far, chunk by chunk; it may be empty. Cancelled:
// those that are not looked up are not told.
Result<void> look_up_modules(
    std::span<const ModuleQuestion> questions, const LookupMeans& means, const StopToken& stop,
    const std::function<void(std::size_t question, ModuleAnswer answer)>& answered,
    const std::function<void(std::size_t question, worker::Chunk chunk)>& partly = {});

}  // namespace profd
