// Engine: the C++ API of the daemon; knows nothing of JSON. It wires what is open (profile_store.h), how that
// is read and read again (loading.h), what clients mean (meant.h), how much all of it may hold
// (memory_share.h), the views and the workers.
//
// Everything here belongs to one strand (the thread that runs what `post` is given) unless it says otherwise.
// Long work runs on workers over immutable snapshots (OpenProfilePtr, WorkspaceSnapshot) and comes back to
// the strand through `post`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/support/account.h"
#include "core/support/stop.h"
#include "server/engine/listeners.h"
#include "server/engine/loading.h"
#include "server/engine/meant.h"
#include "server/engine/memory_ledger.h"
#include "server/engine/memory_share.h"
#include "server/engine/origins.h"
#include "server/engine/profile_cache.h"
#include "server/engine/profile_store.h"
#include "server/engine/project_globs.h"
#include "server/engine/symbolizing.h"
#include "server/engine/uploads.h"
#include "server/engine/views.h"
#include "server/engine/warm_up.h"
#include "server/engine/watches.h"
#include "server/engine/workspace_walks.h"
#include "server/platform/memory.h"
#include "server/runtime/scheduler.h"

namespace profd {

struct EngineOptions {
  unsigned n_threads = 0;  // 0: everything inline, for tests
  // Bytes for all that is held, above all profiles and views; 0: half of the machine. What is being read or
  // computed may take what is left of it, and half of it in any case.
  std::uint64_t memory_budget = 0;
  std::uint64_t view_budget = 0;  // for cached views at most; 0: an eighth of the machine, at least 512 MiB
  bool watch_files = true;
  // A watched file that cannot be read any more is perhaps being written: for how long nothing is said while
  // it stays as it is. Twenty times as long when it is empty, which many profilers leave it until they end.
  std::chrono::milliseconds patience{3000};
  CacheOptions cache;         // of imported files; none by default
  SymbolOptions symbols;      // whose names are looked up; no profile's by default
  std::string upload_folder;  // what clients upload is in a folder of it; "" the runtime folder
};

// What the daemon is busy with.
struct Activity {
  std::string title;
  std::optional<std::uint32_t> percentage;
};

class Engine final : private Loading::Owner {
 public:
  using ProgressFn = Loading::ProgressFn;
  using Opened = Loading::Opened;

  Engine(const EngineOptions& options, Post post);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  ClientId add_client(EngineListener* listener) { return listeners_.add(listener); }
  // Closes what only this client has open and stops its openings.
  void remove_client(ClientId client);
  [[nodiscard]] std::size_t n_clients() const { return listeners_.size(); }

  // Loads what the origin has, as open(request) does for files; `request.uri` and `.options` do not matter.
  std::uint64_t open(ClientId client, OriginPtr origin, OpenRequest request, ProgressFn progress,
                     Opened opened);
  // An origin that knows when it changes says so, and is loaded again when its freshness() differs: at once,
  // or when it is next allowed by its policy.
  void origin_changed(const std::string& key);
  // Loads what the URI names on a worker; `opened` is called on the strand, exactly once. Every profile in a
  // file gets a handle. Opening what is open gives the same ones (read again if the file changed); openings
  // of one origin share the work. `progress` may be called on any thread. Returns a ticket for cancel_open.
  std::uint64_t open(ClientId client, OpenRequest request, ProgressFn progress, Opened opened);
  void cancel_open(std::uint64_t ticket);
  [[nodiscard]] bool is_opening(std::uint64_t ticket) const;
  // One profile, or all of its file. Its memory is given back with the last profile of the file.
  Result<void> close(ClientId client, const std::string& handle, bool whole_file = false);
  // Reads the file again now. Its profiles keep their handles: by name, by place where no name is known
  // again.
  Result<void> reload(const std::string& handle);
  // The next revision of an open profile that comes of no load: with symbols found since, changed by a
  // script, a newer snapshot. What its origin loads later replaces it. `limit`: there is no room for it.
  Result<OpenProfilePtr> revise(const std::string& handle, ProfilePtr profile);

  // "" is what the client means. `not_found` says what is open; a profile dropped for memory says so.
  Result<OpenProfilePtr> find(const std::string& handle, ClientId client = kNobody);
  // What a client means where it names none, the one rule for all that it asks: what it opened or chose
  // itself last and what is still open; else the first profile that its project lists and that it has open,
  // and none while that is being read, however long it takes; else what the other clients mean. Null: none.
  [[nodiscard]] OpenProfilePtr meant(ClientId client = kNobody) const { return look_up(client).open; }
  // What the client asked for, or its project lists, is still being read and would be meant.
  [[nodiscard]] bool awaits(ClientId client) const { return look_up(client).awaited; }
  // What the client's project lists, as paths, the first one first; nothing while that is looked for.
  void set_project(ClientId client, const std::optional<std::vector<std::string>>& paths);
  // The client opened or chose it itself.
  [[nodiscard]] bool chose(ClientId client, const std::string& handle) const;
  // `client`: who asks.
  [[nodiscard]] ProfileListing listing(ClientId client = kNobody) const;
  [[nodiscard]] std::vector<ProfileEntry> list() const { return listing().rows(); }
  // The metric that is meant where none is named, for all clients.
  Result<void> set_metric(const std::string& handle, const std::string& metric);
  // A metric by formula, for all clients as long as the profile is open, in the place of one of that name.
  // Fails as derive_metric() does, and with `limit` beyond kMaxDerivedMetrics.
  Result<void> derive(const std::string& handle, const DerivedMetric& metric);
  // `not_found`: the profile has none of that name.
  Result<void> forget_derived(const std::string& handle, const std::string& name);
  // The client means this where it names none; so do those who neither opened nor chose one and have no
  // project that lists some.
  Result<void> choose(ClientId client, const std::string& handle);
  [[nodiscard]] bool attached(const std::string& handle) const;
  // What the profile's origin gave before what it gives now, as an origin; `since`: only where it is this
  // revision that took its place. `not_found`: it was loaded once, or memory was short.
  Result<OriginPtr> previous(const std::string& handle, std::optional<std::uint32_t> since = std::nullopt);

  void select(ClientId client, std::optional<SharedSelection> selection);
  [[nodiscard]] const std::optional<SharedSelection>& selection() const { return selection_; }

  static constexpr std::size_t kMaxActivities = 20;
  // Files being read, oldest first, the first kMaxActivities of them; what is prepared.
  [[nodiscard]] std::vector<Activity> activities() const;
  [[nodiscard]] std::size_t n_activities() const;                               // all of them
  [[nodiscard]] std::size_t n_profiles() const { return store_.n_profiles(); }  // that are ready
  // The newest revision of all profiles: those read later have a higher OpenProfile::view_id.
  [[nodiscard]] std::uint64_t newest_view_id() const { return store_.newest_view_id(); }
  // Of those that are open, ascending.
  [[nodiscard]] std::vector<std::uint64_t> view_ids() const { return store_.view_ids(); }

  // Makes ahead of time what requests on a profile will need.
  void prepare(const OpenProfilePtr& open, const std::vector<FirstNeed>& needs);
  // And on the files of a workspace, under its filters.
  void prepare_files(const OpenProfilePtr& open, const std::vector<Filter>& filters,
                     const WorkspaceSnapshot& workspace);

  // What clients have open of a URI stays open for this one, too.
  void keep_open(ClientId client, const std::string& uri);

  // Kinds of origins beside files are added before the first client comes.
  Origins& origins() { return origins_; }
  Watches& watches() { return watches_; }
  WorkspaceWalks& walks() { return walks_; }
  SharedWalks<ProjectProfiles>& project_walks() { return project_walks_; }
  UploadRoom& uploads() { return uploads_; }
  Symbolizing& symbolizing() { return symbolizing_; }
  [[nodiscard]] const UploadRoom& uploads() const { return uploads_; }

  // Safe from any thread.
  Views& views() { return views_; }
  Scheduler& scheduler() { return *scheduler_; }
  void post(UniqueFunction<void()> task) { post_(std::move(task)); }

  [[nodiscard]] std::uint64_t memory_budget() const { return budget_; }
  // What is being read and computed draws on this. Safe from any thread.
  [[nodiscard]] const std::shared_ptr<MemoryPool>& pool() const { return pool_; }
  // Who holds something that is neither profile nor view says so here. Safe from any thread.
  [[nodiscard]] const std::shared_ptr<MemoryLedger>& ledger() const { return ledger_; }
  // Much was let go of: the system is to have it. Safe from any thread.
  void freed(std::size_t bytes) { returned_.freed(bytes); }
  // After what is held has changed: what is kept of before goes if need be, views and what is being computed
  // get what is left.
  void share_memory();
  [[nodiscard]] std::uint64_t profile_memory() const { return store_.memory(); }

 private:
  // Taken apart on a worker: a big file's profiles take longer than the strand may.
  struct Doomed {
    std::vector<std::uint64_t> views;
    std::vector<OpenMember> members;
    std::vector<std::shared_ptr<const LoadedProfiles>> loaded;
  };
  using Says = std::function<std::string(const OpenMember& member)>;  // what is told of a profile

  // Loading::Owner
  Result<void> has_room(OriginId id, std::uint64_t bytes) override;
  void loaded(OriginId id, std::shared_ptr<const LoadedProfiles> loaded,
              std::vector<Loading::Waiter> waiters) override;
  void unchanged(OriginId id, Loading::Waiter waiter) override;
  void failed(OriginId id, const Error& error, std::vector<Loading::Waiter> waiters) override;
  void idle(OriginId id) override;
  [[nodiscard]] ClientId user_of(OriginId id) const override;
  void reading_begins() override { share_memory(); }
  void activity_changed() override { listeners_.activity_changed(); }

  [[nodiscard]] bool in_use(OriginId id) const;
  [[nodiscard]] WarmUp* warm_up_of(const OpenProfile& open);
  void forget_views(const OpenProfile& open);
  // Nobody has these open any more.
  void retire(const OpenOrigin& origin, const std::vector<OpenMember*>& members, const Says& says);
  void drop(OriginId id, const Says& says);
  struct SymbolsWanted {
    ClientId client;
    std::shared_ptr<const SymbolPlaces> places;
  };
  // Nobody wants them: as when they were opened first.
  void symbolize_opened(const std::vector<OpenProfilePtr>& opened, const std::vector<SymbolsWanted>& wanted);
  void take_apart_later();
  // What is kept of before goes first when memory is short: all that is held may be half of the budget with
  // it.
  void drop_previous();
  // With this origin in `bytes`.
  [[nodiscard]] MemoryPlan plan_with(OriginId newest, std::uint64_t bytes) const;
  void make_room(OriginId keep);
  // engine_meant.cpp
  struct Meant {
    OpenProfilePtr open;
    bool awaited = false;
  };
  [[nodiscard]] Meant look_up(ClientId client) const;
  [[nodiscard]] Meant first_of_project(ClientId client, const std::vector<std::string>& keys) const;
  void set_derived(const OpenProfile& open, std::vector<DerivedMetric> derived, const std::string& message);
  void announce(ProfileChange change, const OpenOrigin& origin, const OpenMember& member,
                const std::string& message, std::size_t left = 0);
  void announce_all(ProfileChange change, const OpenOrigin& origin, const std::vector<OpenMember*>& members,
                    const Says& says);

  Post post_;
  Listeners listeners_;
  std::uint64_t budget_, view_budget_;
  std::shared_ptr<MemoryPool> pool_;
  std::shared_ptr<MemoryLedger> ledger_ = std::make_shared<MemoryLedger>();
  MemoryReturn returned_;
  std::unique_ptr<Scheduler> scheduler_;  // ends before all else, in ~Engine: its threads use what is here
  OneAtATime turns_;                      // of walks of projects
  WorkspaceWalks walks_;
  SharedWalks<ProjectProfiles> project_walks_;
  Views views_;  // works on the scheduler's threads
  Watches watches_;
  UploadRoom uploads_;
  Origins origins_;
  ProfileStore store_;
  Loading loading_;
  Symbolizing symbolizing_;
  MeantProfiles meant_;
  std::optional<SharedSelection> selection_;
  std::uint64_t next_ticket_ = 1;
  Doomed doomed_;
  std::unique_ptr<WarmUp> warm_up_;
};

}  // namespace profd
