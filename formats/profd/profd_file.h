// Reading and writing native files outside the usual opening: for the cache, which trusts its own entries,
// and for `convert`.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/profile.h"
#include "core/support/executor.h"
#include "formats/byte_sink.h"
#include "formats/open.h"

namespace profd {

// A file that profd's cache wrote. The columns of the profiles point into `bytes`, so nobody may change them
// while `owner` lives: map only files that are replaced, never rewritten.
// The checksum of every byte and the key are compared; what passes is what write_profd() was given, a profile
// that was valid, so ids are not checked again.
Result<OpenedFile> read_cached_profd(std::span<const std::byte> bytes,
                                     const std::shared_ptr<const void>& owner,
                                     std::span<const std::byte> cache_key, Executor& executor);

struct ProfdWriteOptions {
  // How the profiles were imported; null when they were not.
  const FormatDecision* decision = nullptr;
  const ImportReport* report = nullptr;
  std::span<const std::byte> cache_key = {};
};

// Columns go to the sink from where they lie: no copy of the profile is made.
Result<void> write_profd(std::span<const ProfilePtr> profiles, const ProfdWriteOptions& options,
                         const ByteSink& sink);
// What write_profd will write, in bytes.
std::uint64_t profd_size(std::span<const ProfilePtr> profiles, const ProfdWriteOptions& options);

}  // namespace profd
