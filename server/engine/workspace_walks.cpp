#include "server/engine/workspace_walks.h"

#include <algorithm>
#include <new>
#include <utility>

#include "server/platform/memory.h"
#include "server/runtime/log.h"

namespace profd {
namespace {

using Files = WorkspaceWalks::Files;

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
  for (auto& [folders, entry] : entries_)
    if (entry.walking) entry.walking->request_stop();
  *alive_ = false;
}

std::shared_ptr<void> WorkspaceWalks::walk(std::vector<std::string> folders, Done done) {
  std::sort(folders.begin(), folders.end());
  std::erase_if(entries_,
                [](const auto& item) { return !item.second.walking && item.second.files.expired(); });
  Entry& entry = entries_[folders];
  auto waiter = std::make_shared<Done>(std::move(done));
  const Files known = entry.files.lock();
  if (known && !entry.walking && std::chrono::steady_clock::now() - entry.walked_at < kFresh) {
    post_([known, waiting = Waiter(waiter)] {
      if (const auto one = waiting.lock()) (*one)(known);
    });
  } else {
    entry.waiters.push_back(waiter);
    if (!entry.walking) start(folders, entry);
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

void WorkspaceWalks::start(const std::vector<std::string>& folders, Entry& entry) {
  entry.walking = std::make_shared<StopSource>();
  scheduler_.submit(Lane::bulk, "workspace walk",
                    [this, alive = alive_, post = post_, folders, id = next_id_++, stop = *entry.walking,
                     ledger = ledger_, most = most_] {
                      const Files files = index_within(folders, id, StopToken(stop), ledger, most);
                      const LastWords words;
                      post([this, alive, folders, files] {
                        if (*alive) walked(folders, files);
                      });
                    });
}

void WorkspaceWalks::walked(const std::vector<std::string>& folders, const Files& files) {
  Entry& entry = entries_[folders];
  const bool stopped = entry.walking && StopToken(*entry.walking).check();
  entry.walking.reset();
  const std::vector<Waiter> waiters = std::exchange(entry.waiters, {});
  if (stopped) {
    // Somebody came while the walk was being given up: it is theirs from the beginning.
    for (const Waiter& waiter : waiters)
      if (!waiter.expired()) entry.waiters.push_back(waiter);
    if (!entry.waiters.empty()) start(folders, entry);
    return;
  }
  entry.files = files;
  entry.walked_at = std::chrono::steady_clock::now();
  for (const Waiter& waiter : waiters)
    if (const auto one = waiter.lock()) (*one)(files);
}

}  // namespace profd
