// Loading: brings what origins have, tells those who wait for it, and brings it again when it has changed.
//
// An origin is first read; then it is looked at (has it changed?) whenever somebody opens it, its files
// change, or it says so itself, and read again where it has. Belongs to the strand; reading and looking run
// on workers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/support/account.h"
#include "core/support/stop.h"
#include "server/engine/open_request.h"
#include "server/engine/profile_cache.h"
#include "server/engine/profile_store.h"
#include "server/engine/watches.h"
#include "server/platform/memory.h"
#include "server/runtime/guarded_post.h"
#include "server/runtime/scheduler.h"
#include "server/runtime/timers.h"

namespace profd {

class Loading {
 public:
  using ProgressFn = std::function<void(std::uint64_t done, std::uint64_t total)>;
  using Opened = UniqueFunction<void(Result<OpenAnswer>)>;
  // Somebody who waits for an origin to be loaded.
  struct Waiter {
    std::uint64_t ticket;
    ClientId client;
    OpenRequest request;
    ProgressFn progress;
    Opened opened;
  };
  // Who is told what came of it, on the strand. Each call may open and close origins, this one among them.
  class Owner {
   public:
    virtual ~Owner() = default;
    // Before it is taken: whether there is room for it.
    virtual Result<void> has_room(OriginId id, std::uint64_t bytes) = 0;
    virtual void loaded(OriginId id, std::shared_ptr<const LoadedProfiles> loaded,
                        std::vector<Waiter> waiters) = 0;
    // Looked at, and as it was loaded.
    virtual void unchanged(OriginId id, Waiter waiter) = 0;
    virtual void failed(OriginId id, const Error& error, std::vector<Waiter> waiters) = 0;
    // Nobody waits for it any more.
    virtual void idle(OriginId id) = 0;
    // Somebody who has it open; kNobody: nobody has.
    [[nodiscard]] virtual ClientId user_of(OriginId id) const = 0;
    virtual void reading_begins() = 0;
    virtual void activity_changed() = 0;
  };
  struct Means {
    Scheduler& scheduler;
    const Post& post;
    Watches& watches;
    ProfileCache cache;
    std::shared_ptr<MemoryPool> pool;
    MemoryReturn& returned;
    std::chrono::milliseconds patience;
    // LoadContext::named, on a worker.
    std::function<Result<ProfilePtr>(ProfilePtr profile, const SymbolPlaces& places, const StopToken& stop)>
        name_code;
    // LoadContext::unwinder, on a worker.
    std::function<UnwindStacks(const SymbolPlaces& places, const StopToken& stop)> unwinder;
  };

  Loading(Means means, Owner& owner);

  // `waiter` is told exactly once, unless it is taken away before. Who opens what is loaded waits for a look.
  void open(OriginId id, const OriginPtr& origin, Waiter waiter);
  // Loads it again now, changed or not; nothing while it is being read.
  void reload(OriginId id);
  // The origin may have changed. It is looked at as soon as its policy allows, or what is being read is.
  void changed(OriginId id);
  // It is open no more: reading stops.
  void forget(OriginId id);

  [[nodiscard]] std::optional<Waiter> take_waiter(std::uint64_t ticket, OriginId& id);
  void remove_client(ClientId client);
  [[nodiscard]] bool waits(OriginId id, ClientId client) const;
  [[nodiscard]] bool is_waited_for(OriginId id) const;
  [[nodiscard]] bool is_waited_for_by(std::uint64_t ticket) const;
  [[nodiscard]] std::vector<ClientId> waiting_clients(OriginId id) const;
  [[nodiscard]] bool is_watched(OriginId id) const;

  struct Reading {
    OriginId id;
    std::int32_t percentage;  // -1 unknown
  };
  [[nodiscard]] std::vector<Reading> readings() const;  // oldest first

  // Nothing is told any more.
  void stop();

 private:
  struct Read {
    StopSource stop;
    std::shared_ptr<SharedTask> task;
    std::shared_ptr<std::atomic<std::int32_t>> percentage;
    // Freshness when it began, where a change asked for it.
    std::optional<std::string> because_of;
  };
  // What is shown of it.
  struct Shown {
    std::string freshness;
    std::vector<WatchedPath> watched;
    std::chrono::steady_clock::time_point since;
    bool lacks_scripts = false;  // that further folders may have
  };
  // A file that was changed and cannot be read is perhaps being written: nothing is said for a while.
  struct Silence {
    Error error;
    std::optional<std::string> freshness;  // of what could not be read
  };
  struct State {
    OriginPtr origin;
    std::vector<Waiter> waiters;
    std::shared_ptr<const SymbolPlaces> symbols;  // of who wanted names last; null: nobody did
    ScriptRoots scripts;                          // of all who opened it
    std::optional<Read> reading;
    std::optional<Shown> shown;
    std::optional<Silence> silence;
    std::chrono::steady_clock::time_point silent_since = {};
    bool looking = false;
    bool look_again = false;  // it changed while it was looked at or read
    bool is_due = false;      // a timer looks at it when its policy allows
    bool is_watched = false;  // somebody wants that
    std::vector<Watches::Watch> watches;
  };

  State* find(OriginId id);
  [[nodiscard]] const State* find(OriginId id) const;
  void start(OriginId id, State& state, std::optional<std::string> because_of = std::nullopt);
  void submit(ClientId client, const State& state);
  ProgressFn watched_progress(Read& read, ProgressFn inner);
  void done(OriginId id, Result<std::shared_ptr<LoadedProfiles>> result, std::shared_ptr<Account> account);
  void look(OriginId id, State& state, bool changed);
  void looked(OriginId id, const std::optional<std::string>& now, bool changed, std::uint64_t before);
  [[nodiscard]] ClientId client_of(OriginId id, const State& state) const;
  void watch(OriginId id, State& state);
  bool wait_for_the_rest(OriginId id, State& state, const Error& error);

  Owner& owner_;
  Scheduler& scheduler_;
  GuardedPost post_;
  Timers timers_;
  Watches& watches_;
  ProfileCache cache_;
  std::shared_ptr<MemoryPool> pool_;
  MemoryReturn& returned_;
  std::chrono::milliseconds patience_;
  decltype(Means::name_code) name_code_;
  decltype(Means::unwinder) unwinder_;
  StopSource ending_;  // of work that no request stops
  std::map<OriginId, State> states_;
  std::uint64_t newest_ticket_ = 0;
};

}  // namespace profd
