// SymbolCache: what was found of the code of binaries, kept in the user's cache by build id, so that a second
// profile of one build asks for no more than is new in it. An entry holds as long as the files that it was
// made of are the same, to their sizes, times and inodes, and so is the program.
//
// Only what has lines is kept: symbol tables are quick to read, and debug files may come later. Entries can
// be lost or damaged at any time; the worst that happens is a look at the files. Safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/engine/symbol_files.h"
#include "workers/symbols.h"

namespace profd {

// Chunks of one order each, so that `asked` counts in `addresses`.
struct KnownChunk {
  std::vector<std::uint64_t> addresses;  // ascending, distinct
  worker::Chunk chunk;
};
struct KnownModule {
  std::vector<SymbolSearch::Used> used;
  bool unchecked = false;
  std::vector<KnownChunk> chunks;
};

class SymbolCache {
 public:
  // `directory` "": nothing is kept.
  SymbolCache(std::string directory, std::uint64_t max_bytes);

  // Nothing where there is none that still holds.
  [[nodiscard]] std::optional<KnownModule> find(const std::string& build_id, worker::Addresses kind) const;
  // Replaces what there was. What goes wrong is nobody's concern: the next time the files are read again.
  void store(const std::string& build_id, worker::Addresses kind, const KnownModule& known) const;

 private:
  [[nodiscard]] std::string path_of(const std::string& build_id, worker::Addresses kind) const;

  std::string directory_;
  std::uint64_t max_bytes_;
};

}  // namespace profd
