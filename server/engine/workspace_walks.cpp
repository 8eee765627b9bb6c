#include "server/engine/workspace_walks.h"

#include <algorithm>
#include <new>
#include <utility>

#include "server/platform/last_words.h"
#include "server/runtime/log.h"

namespace profd {
namespace {

using Files = WorkspaceWalks::Files;

constexpr const char* kTask = "workspace walk";

// In the ledger as long as somebody has it.
Files counted(Files files, const std::shared_ptr<MemoryLedger>& ledger) {
  struct Counted {
    Files files;
    HeldBytes held;
  };
  auto out = std::make_shared<Counted>(Counted{std::move(files), HeldBytes(ledger, Held::workspaces)});
  out->held.set(out->files->index.memory());
  return {out, out->files.get()};
}

Files nothing_found(std::uint64_t id) {
  auto none = std::make_shared<WorkspaceFiles>();
  none->id = id;
  none->complete = false;
  return none;
}

// As far as there is memory for it.
Files index_within(const std::vector<std::string>& folders, std::uint64_t id, const StopToken& stop,
                   const std::shared_ptr<MemoryLedger>& ledger, std::uint64_t most) {
  try {
    if (ledger->bytes(Held::workspaces) <= most) return counted(index_workspace(folders, id, stop), ledger);
  } catch (const std::bad_alloc&) {
  }
  const LastWords words;
  log_warning("there is no memory for what lies below a workspace's folders (--memory-budget)");
  return nothing_found(id);
}

}  // namespace

WorkspaceWalks::~WorkspaceWalks() {
  stop();
}

void WorkspaceWalks::stop() {
  for (auto& [folders, entry] : entries_)
    if (entry.walking) entry.walking->request_stop();
  *alive_ = false;
}

std::shared_ptr<void> WorkspaceWalks::walk(ClientId client, std::vector<std::string> folders, Done done) {
  std::sort(folders.begin(), folders.end());
  std::erase_if(entries_,
                [](const auto& item) { return !item.second.walking && item.second.files.expired(); });
  Entry& entry = entries_[folders];
  auto waiter = std::make_shared<Request>(Request{client, std::move(done)});
  const Files known = entry.files.lock();
  if (known && !entry.walking && std::chrono::steady_clock::now() - entry.walked_at < kFresh) {
    post_([known, waiting = Waiter(waiter)] {
      if (const auto one = waiting.lock()) one->done(known);
    });
  } else {
    entry.waiters.push_back(waiter);
    if (!entry.walking)
      start(client, folders, entry);
    else if (!entry.task->begun())
      SharedTask::submit(scheduler_, Lane::bulk, client, kTask, entry.task);
  }
  // The last who waits takes the walk with it.
  return {waiter.get(), [this, alive = alive_, folders = std::move(folders), waiter](void*) mutable {
            waiter.reset();
            if (!*alive) return;
            const auto found = entries_.find(folders);
            if (found == entries_.end() || !found->second.walking) return;
            std::erase_if(found->second.waiters, [](const Waiter& one) { return one.expired(); });
            if (found->second.waiters.empty()) found->second.walking->request_stop();
          }};
}

void WorkspaceWalks::start(ClientId client, const std::vector<std::string>& folders, Entry& entry) {
  entry.walking = std::make_shared<StopSource>();
  const auto task =
      std::make_shared<SharedTask>([this, alive = alive_, post = post_, folders, id = next_id_++,
                                    stop = *entry.walking, ledger = ledger_, most = most_] {
        const Files files = index_within(folders, id, StopToken(stop), ledger, most);
        const LastWords words;
        post([this, alive, folders, files] {
          if (*alive) walked(folders, files);
        });
      });
  entry.task = task;
  SharedTask::submit(scheduler_, Lane::bulk, client, kTask, task);  // without workers it is over after this
}

void WorkspaceWalks::walked(const std::vector<std::string>& folders, const Files& files) {
  Entry& entry = entries_[folders];
  const bool stopped = entry.walking && entry.walking->stopped();
  entry.walking.reset();
  entry.task.reset();
  const std::vector<Waiter> waiters = std::exchange(entry.waiters, {});
  if (stopped) {
    // Somebody came while the walk was being given up: it is theirs from the beginning.
    ClientId client = kNobody;
    for (const Waiter& waiter : waiters)
      if (const auto one = waiter.lock()) {
        client = one->client;
        entry.waiters.push_back(waiter);
      }
    if (!entry.waiters.empty()) start(client, folders, entry);
    return;
  }
  entry.files = files;
  entry.walked_at = std::chrono::steady_clock::now();
  for (const Waiter& waiter : waiters)
    if (const auto one = waiter.lock()) one->done(files);
}

}  // namespace profd
