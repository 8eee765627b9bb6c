// ProfileCache: what was imported once, kept as native files under the user's cache directory, so that the
// next opening of the same bytes maps a file instead of reading a foreign one.
//
// An entry is named by a 128-bit hash of the content, the options that change what is read, and everything
// that could read it otherwise: the readers with their versions and the program itself. Nothing is ever
// updated in place. The cache can be lost, damaged or shared between processes at any time; the worst that
// happens is an import. Functions are safe from any thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/support/executor.h"
#include "core/support/stop.h"
#include "formats/open.h"

namespace profd {

struct CacheOptions {
  std::string directory;                      // "": no cache
  std::uint64_t max_bytes = 4ull << 30;       // of all entries; the least recently used go first
  std::chrono::milliseconds min_import{100};  // what is imported faster is not kept
};

// $XDG_CACHE_HOME/profd or ~/.cache/profd. PROFD_CACHE=off for none, PROFD_CACHE_SIZE=512M (or K, G, bytes).
CacheOptions cache_options_from_environment();

using CacheKey = std::array<std::byte, 16>;

// The part of a key that stands for the readers: their order, ids and versions.
std::uint64_t digest_of(std::span<const FormatReader* const> readers);

class ProfileCache {
 public:
  explicit ProfileCache(CacheOptions options = cache_options_from_environment());

  bool enabled() const { return !options_.directory.empty(); }
  const CacheOptions& options() const { return options_; }
  // Reads all of `bytes`, at memory speed.
  CacheKey key_of(const ByteSource& bytes, const OpenOptions& options) const;
  // Nothing when there is no entry or when it is of no use (then it is deleted).
  std::optional<OpenedFile> find(const CacheKey& key, Executor& executor) const;
  // Writes the entry and makes room. False: not kept, as it is there, too large, or the disk is nearly full.
  Result<bool> store(const CacheKey& key, const OpenedFile& file, const StopToken& stop) const;
  std::string path_of(const CacheKey& key) const;

 private:
  Result<void> make_directory() const;

  CacheOptions options_;
  std::uint64_t program_;  // digest of readers and program
};

struct CachedOpen {
  OpenedFile file;
  bool from_cache = false;
  // Set when the import was slow enough to be kept. Call it where nobody waits: after the answer, or in the
  // bulk lane. Holds the profiles. An error is for the log: the user's request went well.
  std::function<Result<bool>(StopToken)> write_entry;
};

// open_profiles() with the cache before it. Decision and report are those of the first opening.
// Folders, and files whose reader looked at others beside them, are not kept: their bytes are not all of it.
Result<CachedOpen> open_cached(const ProfileCache& cache, const OpenInput& input, const OpenOptions& options,
                               Executor& executor, StopToken stop,
                               const std::function<void(std::uint64_t, std::uint64_t)>& progress = {});
// Regular files and folders of them alone: the path is a client's word, or a project file's.
Result<CachedOpen> open_cached(const ProfileCache& cache, const std::string& path, const OpenOptions& options,
                               Executor& executor, StopToken stop,
                               const std::function<void(std::uint64_t, std::uint64_t)>& progress = {});

}  // namespace profd
