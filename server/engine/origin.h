// Origin: where open profiles come from, and how they come again. A file is one kind; what is derived from
// other profiles, a running program, a store are others: the engine, its handles, revisions and views know
// them by this alone.
//
// Immutable and safe from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/open.h"
#include "server/engine/profile_cache.h"
#include "server/engine/script_maps.h"
#include "server/platform/file_watcher.h"

namespace profd {

struct WatchedPath {
  std::string path;
  FileStamp seen;  // when it was read
};

// What an origin gave at one time.
struct LoadedProfiles {
  std::vector<ProfilePtr> profiles;                // at least one, in the order of the origin
  FormatDecision decision;                         // what it was read as; of what is no file the format alone
  ImportReport report;                             // what was lost and guessed
  std::string freshness;                           // Origin::freshness() of what was read
  std::vector<WatchedPath> watched;                // a change of one makes a look at freshness() worth it
  std::size_t memory = 0;                          // of all profiles
  std::vector<std::vector<ScriptAnswer>> scripts;  // by profile: what became of those that it names
};
std::size_t memory_of(const std::vector<ProfilePtr>& profiles);

struct LoadContext {
  const ProfileCache& cache;
  Executor& executor;
  StopToken stop;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // may be empty
  // A profile of what is at `place` with the names that its binaries give it; may be empty. What is put
  // together of several asks for it, as names decide what is one in all of them.
  std::function<Result<ProfilePtr>(ProfilePtr profile, const std::string& place)> named = {};
  // What finds callers in copies of stacks, for one loading of what is at `place`; may be empty.
  std::function<UnwindStacks(const std::string& place)> unwinder = {};
  ScriptRoots scripts = {};  // whose source maps are applied to what files have
};

struct Load {
  std::shared_ptr<LoadedProfiles> profiles;
  // Keeps what was slow to read for the next time, where nobody waits; may be empty.
  std::function<Result<bool>(StopToken)> keep;
};

struct OriginPolicy {
  bool warm_up = true;  // what first requests need is made ahead of time
  // Profiles are loaded again, and clients told of it, at most this often.
  std::chrono::milliseconds tell_every{0};
  // What it gave before it was loaded anew is kept for a comparison, as long as memory is not short.
  bool keep_previous = false;
  // That it cannot be loaded is for everybody's status line; else it is for who asked alone.
  bool tells_failure = true;
};

class Origin {
 public:
  virtual ~Origin() = default;
  // Origins of one key are the same: opening both gives the same handles.
  [[nodiscard]] virtual const std::string& key() const = 0;
  [[nodiscard]] virtual const std::string& uri() const = 0;
  [[nodiscard]] virtual std::string name() const = 0;          // for people: short
  [[nodiscard]] virtual const std::string& place() const = 0;  // what errors and logs name: a file's path
  // On a worker.
  [[nodiscard]] virtual Result<Load> load(const LoadContext& context) const = 0;
  // Differs when loading again would give something else; nothing: there is nothing to load from any more,
  // and what was loaded stands. Quick enough for the strand.
  [[nodiscard]] virtual std::optional<std::string> freshness() const = 0;
  [[nodiscard]] virtual OriginPolicy policy() const { return {}; }
};

using OriginPtr = std::shared_ptr<const Origin>;

// `path` is absolute and lexically normal.
OriginPtr file_origin(std::string path, OpenOptions options);
// What somebody has opened already, a pipe perhaps; `place` is what errors name.
OriginPtr input_origin(std::string place, OpenInput input, OpenOptions options);

}  // namespace profd
