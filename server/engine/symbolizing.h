// Symbolizing: open profiles get names from their binaries, by themselves as they are opened or because a
// client asks, one run of a profile at a time. What is found is the next revision of the profile.
//
// Belongs to the strand; looking up runs on workers.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/support/account.h"
#include "core/support/stack_copies.h"
#include "core/support/unique_function.h"
#include "server/engine/open_profile.h"
#include "server/engine/symbolize_profile.h"
#include "server/runtime/guarded_post.h"
#include "server/runtime/scheduler.h"

namespace profd {

struct SymbolOptions {
  std::string program;   // profd-symbolize; "": nothing is looked up
  bool on_open = false;  // profiles are looked up as they are opened, where their request says where
  std::string cache;     // a folder; "" none
  std::uint64_t max_cache_bytes = std::uint64_t{256} << 20;
  WorkerLimits limits;
  std::chrono::milliseconds patience{60'000};
};
// The cache beside that of profiles.
SymbolOptions symbol_options_from_environment();

class Symbolizing {
 public:
  using ProgressFn = std::function<void(std::uint64_t done, std::uint64_t total)>;
  using FetchingFn = std::function<void(const std::string& module, const worker::Fetching& so_far)>;
  using Lookups = std::vector<ModuleLookup>;
  // What became of it: the profile as it is now.
  using Done = UniqueFunction<void(Result<OpenProfilePtr>)>;
  struct Means {
    Scheduler& scheduler;
    const Post& post;
    std::shared_ptr<MemoryPool> pool;
    SymbolOptions options;
    // The profile as it is now; an error: it is closed.
    std::function<Result<OpenProfilePtr>(const std::string& handle)> find;
    // Makes it the next revision. An error: there is no room.
    std::function<Result<OpenProfilePtr>(const std::string& handle, ProfilePtr profile)> revise;
    std::function<void()> activity_changed;
  };

  explicit Symbolizing(Means means);
  ~Symbolizing();
  Symbolizing(const Symbolizing&) = delete;
  Symbolizing& operator=(const Symbolizing&) = delete;

  // It was opened, or loaded anew. `places` null: as when it was opened before, if it was.
  void opened(const OpenProfilePtr& open, ClientId client, const SymbolPlaces* places);
  // `done` is called once, unless the profile is closed before: then it is destroyed. Returns what stops it,
  // to be called on the strand at any time.
  std::function<void()> start(const OpenProfilePtr& open, ClientId client, SymbolizeRequest request,
                              ProgressFn progress, Done done, FetchingFn fetching = {});
  // A profile with its names, where they are looked up as profiles are opened; else the profile. Blocks; safe
  // from any thread.
  [[nodiscard]] Result<ProfilePtr> named(ProfilePtr profile, const SymbolPlaces& places,
                                         const StopToken& stop) const;
  // What finds callers in copies of stacks for one loading; empty where names are not looked up as profiles
  // are opened. Safe from any thread.
  [[nodiscard]] UnwindStacks unwinder(const SymbolPlaces& places, const StopToken& stop) const;
  // Nobody has it open any more.
  void forget(const std::string& handle);

  [[nodiscard]] bool is_busy(const std::string& handle) const;
  // What was looked for so far, by module; null: nothing was.
  [[nodiscard]] std::shared_ptr<const Lookups> lookups(const std::string& handle) const;
  [[nodiscard]] const SymbolOptions& options() const { return means_.options; }
  // What is being done; "" nothing.
  [[nodiscard]] std::string title() const;
  // Nothing is told any more.
  void stop();

 private:
  struct Run {
    std::uint64_t number;
    ClientId client;
    SymbolizeRequest request;
    ProgressFn progress;
    FetchingFn fetching;
    Done done;
    StopSource stop;
    std::uint64_t view_id = 0;  // of the revision that it makes better
    ProfilePtr profile;         // the same
  };
  struct State {
    std::string name;
    std::string fetching;  // the module that a file is fetched for; "" none
    std::deque<Run> runs;  // the first one is on its way
    std::shared_ptr<const SymbolPlaces> places;
    std::shared_ptr<const Lookups> lookups;
  };

  void add(const OpenProfilePtr& open, Run run);
  void begin(const std::string& handle);
  Run* current(const std::string& handle, std::uint64_t number);
  void better(const std::string& handle, std::uint64_t number, ProfilePtr profile);
  void told(const std::string& handle, std::uint64_t number, const std::string& name,
            const std::string& fetching);
  void ended(const std::string& handle, std::uint64_t number, Result<Symbolized> result);
  Result<OpenProfilePtr> take(const std::string& handle, Run& run, ProfilePtr profile);
  void cancel(const std::string& handle, std::uint64_t number);

  Means means_;
  std::shared_ptr<const SymbolCache> cache_;
  GuardedPost post_;
  std::map<std::string, State> states_;  // by handle
  std::uint64_t next_run_ = 1;
};

}  // namespace profd
