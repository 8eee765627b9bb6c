#include "server/engine/workspace_walks.h"

#include <algorithm>
#include <utility>

namespace profd {

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
                    [this, alive = alive_, post = post_, folders, id = next_id_++, stop = *entry.walking] {
                      const Files files = index_workspace(folders, id, StopToken(stop));
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
