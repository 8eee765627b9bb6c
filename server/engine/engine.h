// Engine: the C++ API of the daemon. Owns the open profiles, their views, the workers; knows nothing of JSON.
//
// Everything here belongs to one strand (the thread that runs what `post` is given) unless it says otherwise.
// Long work runs on workers over immutable snapshots (OpenProfilePtr, WorkspaceSnapshot) and comes back to
// the strand through `post`.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/support/account.h"
#include "core/support/stop.h"
#include "server/engine/listeners.h"
#include "server/engine/meant.h"
#include "server/engine/memory_ledger.h"
#include "server/engine/memory_share.h"
#include "server/engine/open_profile.h"
#include "server/engine/profile_cache.h"
#include "server/engine/project_globs.h"
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
  std::string upload_folder;  // what clients upload is in a folder of it; "" the runtime folder
};

struct OpenRequest {
  std::string uri;
  OpenOptions options;
  bool attach = true;            // annotate sources from it
  bool make_default = true;      // the client means it where it names none: it asked for it itself
  bool watch = true;             // reload it when the file changes
  std::string metric;            // default metric; "" the file's own. One that it does not have is an error
  std::string preferred_metric;  // the same without `metric`, where the file has it: a project's
  std::string name;              // for people; "" the file's name
  std::string member;            // which profile of the file is meant: name or number from 1; "" the first
};
struct OpenAnswer {
  OpenProfilePtr profile;                // the one meant
  std::vector<OpenProfilePtr> profiles;  // all of the file, in its order
  bool already_open = false;
};

struct ProfileEntry {
  std::string handle, uri, name, format;
  std::string member_name;                  // what the file calls it
  std::uint32_t number = 1, n_in_file = 1;  // its place in the file, from 1
  OpenProfilePtr profile;                   // null while first opened
  std::uint32_t revision = 0;
  enum class State : std::uint8_t { opening, ready, failed } state = State::opening;
  bool is_default = false, attached = false, watched = false;
  bool mine = false;  // whoever asks has it open, or is opening it
  std::size_t memory = 0;
};

// What is open, taken at one time: cheap to take on the strand, to be spelled out anywhere.
struct ProfileListing {
  struct File {
    ProfileEntry common;  // what the rows of the file have in common; the one row while it is first read
    std::vector<OpenProfilePtr> profiles;
    std::vector<std::uint8_t> mine;  // for each of `profiles`
  };
  std::vector<File> files;  // oldest first
  std::string meant;        // handle of the one that whoever asks means; "" none

  [[nodiscard]] std::size_t n_rows() const;
  // Those of whoever asks first; each oldest first.
  [[nodiscard]] std::vector<ProfileEntry> rows() const;
};

// What the daemon is busy with.
struct Activity {
  std::string title;
  std::optional<std::uint32_t> percentage;
};

class Engine {
 public:
  using ProgressFn = std::function<void(std::uint64_t done, std::uint64_t total)>;
  using Opened = UniqueFunction<void(Result<OpenAnswer>)>;

  Engine(const EngineOptions& options, Post post);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  ClientId add_client(EngineListener* listener) { return listeners_.add(listener); }
  // Closes what only this client has open and stops its openings.
  void remove_client(ClientId client);
  [[nodiscard]] std::size_t n_clients() const { return listeners_.size(); }

  // Loads what the origin has, as open(request) does for files; `request.uri` and `.options` do not matter.
  std::uint64_t open(ClientId client, OriginPtr origin, OpenRequest request, ProgressFn progress,
                     Opened opened);
  // An origin that knows when it changes says so, and is loaded again when its freshness() differs. False: it
  // is being loaded, or its policy says not yet; to be said again later.
  bool origin_changed(const std::string& key);
  // Reads the file on a worker; `opened` is called on the strand, exactly once. Every profile in the file
  // gets a handle. Opening what is open gives the same ones (read again if the file changed); openings of one
  // file share the work. `progress` may be called on any thread. Returns a ticket for cancel_open.
  std::uint64_t open(ClientId client, OpenRequest request, ProgressFn progress, Opened opened);
  void cancel_open(std::uint64_t ticket);
  [[nodiscard]] bool is_opening(std::uint64_t ticket) const;
  // One profile, or all of its file. Its memory is given back with the last profile of the file.
  Result<void> close(ClientId client, const std::string& handle, bool whole_file = false);
  // Reads the file again now. Its profiles keep their handles: by name, by place where no name is known
  // again.
  Result<void> reload(const std::string& handle);

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
  // The client means this where it names none; so do those who neither opened nor chose one and have no
  // project that lists some.
  Result<void> choose(ClientId client, const std::string& handle);
  [[nodiscard]] bool attached(const std::string& handle) const;

  void select(ClientId client, std::optional<SharedSelection> selection);
  [[nodiscard]] const std::optional<SharedSelection>& selection() const { return selection_; }

  static constexpr std::size_t kMaxActivities = 20;
  // Files being read, oldest first, the first kMaxActivities of them; what is prepared.
  [[nodiscard]] std::vector<Activity> activities() const;
  [[nodiscard]] std::size_t n_activities() const;  // all of them
  [[nodiscard]] std::size_t n_profiles() const;    // that are ready
  // The newest revision of all profiles: those read later have a higher OpenProfile::view_id.
  [[nodiscard]] std::uint64_t newest_view_id() const { return next_view_id_; }
  [[nodiscard]] std::vector<std::uint64_t> view_ids() const;  // of those that are open, ascending

  // Makes ahead of time what requests on a profile will need, for these filters of its default metric.
  // `workspace`: for its files, too; may be null.
  void prepare(const OpenProfilePtr& open, const std::vector<Filter>& filters,
               const WorkspaceSnapshot* workspace = nullptr);

  // What clients have open of a URI stays open for this one, too.
  void keep_open(ClientId client, const std::string& uri);

  Watches& watches() { return watches_; }
  WorkspaceWalks& walks() { return walks_; }
  SharedWalks<ProjectProfiles>& project_walks() { return project_walks_; }
  UploadRoom& uploads() { return uploads_; }
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
  // After what is held has changed: views and what is being computed get what is left.
  void share_memory();
  [[nodiscard]] std::uint64_t profile_memory() const;

 private:
  struct Waiter {
    std::uint64_t ticket;
    ClientId client;
    OpenRequest request;
    ProgressFn progress;
    Opened opened;
  };
  // A profile of a file. Without clients it is closed, and opened again with its file.
  struct Member {
    std::string handle;
    OpenProfilePtr current;
    std::set<ClientId> clients;
  };
  using FileId = std::uint64_t;
  struct Entry {
    OriginPtr origin;
    OpenRequest request;
    std::string first_handle;     // kept for the first profile while the file is first read
    std::vector<Member> members;  // in the order of the file; none while it is first read
    std::vector<Waiter> waiters;
    std::optional<StopSource> loading;
    std::shared_ptr<SharedTask> load_task;                  // of the loading
    std::shared_ptr<std::atomic<std::int32_t>> percentage;  // of the loading; -1 unknown
    bool failed = false, attached = false;
    bool watched = false;                      // somebody wants that
    std::vector<Watches::Watch> watches;       // of all that was read
    bool looking = false, look_again = false;  // whether the file changed, on a worker
    std::optional<std::string> reading;        // freshness when the loading began, when a change asked for it
    std::optional<std::string> not_said;       // why that failed, until patience ends
    std::chrono::steady_clock::time_point silent_since = {};
    std::uint32_t revision = 0;
    std::uint64_t last_use = 0;
    std::shared_ptr<LoadedProfiles> loaded;
    std::chrono::steady_clock::time_point loaded_at;
    [[nodiscard]] bool in_use() const;
    [[nodiscard]] std::size_t n_used() const;  // members that somebody has open
  };
  struct Place {
    FileId file;
    std::size_t member;
  };
  // Taken apart on a worker: a big file's profiles take longer than the strand may.
  struct Doomed {
    std::vector<std::uint64_t> views;
    std::vector<Member> members;
    std::vector<std::shared_ptr<LoadedProfiles>> loaded;
  };

  using Says = std::function<std::string(const Member& member)>;  // what is told of a profile

  // engine_loading.cpp: from a file to members, and again when it changes
  void start_loading(FileId id, Entry& entry, std::optional<std::string> seen_by_watcher = std::nullopt);
  void submit_load(ClientId client, const Entry& entry);
  ProgressFn watched_progress(Entry& entry, ProgressFn inner);
  void loaded(FileId id, Result<std::shared_ptr<LoadedProfiles>> result, std::shared_ptr<Account> account);
  void take(FileId id, Entry& entry, std::shared_ptr<LoadedProfiles> loaded);
  std::vector<Member> match_members(Entry& entry, const std::vector<ProfilePtr>& profiles,
                                    std::vector<Member>& gone);
  std::shared_ptr<OpenProfile> make_open(const Entry& entry, const Member& member, std::size_t number) const;
  Result<OpenAnswer> answer_for(const Entry& entry, const OpenRequest& request, bool already_open) const;
  bool load_again(FileId id, Entry& entry);
  void look(FileId id, Entry& entry, bool by_watcher);
  void looked(FileId id, const std::optional<std::string>& now, bool by_watcher, std::uint64_t before);
  void answer_open(Entry& entry, Waiter& waiter);
  [[nodiscard]] ClientId client_of(const Entry& entry) const;
  void watch(FileId id, Entry& entry);
  void wait_for_the_rest(FileId id, Entry& entry, const std::string& what);
  void tell_failure(Entry& entry, const std::string& what);

  void forget_views(const OpenProfile& open);
  // Nobody has these open any more.
  void retire(Entry& entry, const std::vector<Member*>& members, const Says& says);
  void drop(FileId id, const Says& says);
  void take_apart_later();
  // With this file in `bytes`.
  [[nodiscard]] MemoryPlan plan_with(FileId newest, std::uint64_t bytes) const;
  void make_room(FileId keep);
  // engine_meant.cpp
  struct Meant {
    OpenProfilePtr open;
    bool awaited = false;
  };
  [[nodiscard]] Meant look_up(ClientId client) const;
  [[nodiscard]] Meant first_of_project(ClientId client, const std::vector<std::string>& keys) const;
  [[nodiscard]] OpenProfilePtr newest() const;
  void announce(ProfileChange change, const Entry& entry, const Member& member, const std::string& message,
                std::size_t left = 0);
  void announce_all(ProfileChange change, const Entry& entry, const std::vector<Member*>& members,
                    const Says& says);
  Entry* entry_of(const std::string& handle);
  Member* member_of(const std::string& handle);
  [[nodiscard]] const Member* member_of(const std::string& handle) const;

  Post post_;
  Listeners listeners_;
  std::uint64_t budget_, view_budget_;
  std::shared_ptr<MemoryPool> pool_;
  std::shared_ptr<MemoryLedger> ledger_ = std::make_shared<MemoryLedger>();
  MemoryReturn returned_;
  std::chrono::milliseconds patience_;
  ProfileCache cache_;
  StopSource ending_;                     // of work that no request stops
  std::shared_ptr<bool> alive_;           // posted tasks look whether the engine is still there
  std::unique_ptr<Scheduler> scheduler_;  // ends before all else, in ~Engine: its threads use what is here
  OneAtATime turns_;                      // of walks of projects
  WorkspaceWalks walks_;
  SharedWalks<ProjectProfiles> project_walks_;
  Views views_;  // works on the scheduler's threads
  Watches watches_;
  UploadRoom uploads_;
  std::map<FileId, Entry> entries_;                  // oldest first
  std::map<std::string, FileId> by_key_;             // of the origins
  std::unordered_map<std::string, Place> place_of_;  // by handle
  std::map<std::string, std::string> evicted_;       // handle -> why
  MeantProfiles meant_;
  std::optional<SharedSelection> selection_;
  std::uint64_t next_ticket_ = 1, next_handle_ = 1, next_file_ = 1, next_view_id_ = 0, clock_ = 0;
  Doomed doomed_;
  std::unique_ptr<WarmUp> warm_up_;
};

}  // namespace profd
