#include "server/engine/workspace_walks.h"

#include <algorithm>
#include <new>
#include <utility>

#include "server/platform/last_words.h"
#include "server/runtime/log.h"

namespace profd {
namespace {

using Files = WorkspaceWalks::Files;

// In the ledger as long as somebody has it; `given_back` is called, on any thread, when nobody has.
Files counted(std::shared_ptr<WorkspaceFiles> files, const std::shared_ptr<MemoryLedger>& ledger,
              std::function<void()> given_back) {
  struct Counted {
    std::shared_ptr<WorkspaceFiles> files;
    HeldBytes held;
    std::function<void()> given_back;
    Counted(std::shared_ptr<WorkspaceFiles> what, HeldBytes bytes, std::function<void()> tell)
        : files(std::move(what)), held(std::move(bytes)), given_back(std::move(tell)) {}
    Counted(const Counted&) = delete;
    ~Counted() {
      const LastWords words;
      held.set(0);
      given_back();
    }
  };
  auto out =
      std::make_shared<Counted>(std::move(files), HeldBytes(ledger, Held::workspaces), std::move(given_back));
  out->held.set(out->files->index.memory());
  return {out, out->files.get()};
}

// As far as there is memory for it.
std::shared_ptr<WorkspaceFiles> index_within(const std::vector<std::string>& folders, std::uint64_t id,
                                             const StopToken& stop, std::uint64_t room) {
  try {
    return index_workspace(folders, id, stop, room);
  } catch (const std::bad_alloc&) {
    const LastWords words;
    auto none = std::make_shared<WorkspaceFiles>();
    none->id = id;
    none->room = room;
    none->complete = false;
    none->no_room = true;
    return none;
  }
}

}  // namespace

void WorkspaceWalks::stop() {
  walks_.stop();
  post_.end();
}

std::uint64_t WorkspaceWalks::room_beside(std::uint64_t own) const {
  const std::uint64_t others =
      ledger_->bytes(Held::workspaces) - std::min(ledger_->bytes(Held::workspaces), own);
  return std::max((most_ - std::min(most_, others)) / 2, most_ / 64);
}

std::shared_ptr<void> WorkspaceWalks::walk(ClientId client, std::vector<std::string> folders,
                                           const std::string& project, Done done) {
  std::sort(folders.begin(), folders.end());
  std::erase_if(known_, [](const auto& item) { return item.second.files.expired(); });
  const auto known = known_.find(folders);
  const Files before = known == known_.end() ? nullptr : known->second.files.lock();
  if (before && !before->no_room && std::chrono::steady_clock::now() - known->second.walked_at < kFresh) {
    auto waiter = std::make_shared<Done>(std::move(done));
    post_([before, waiting = std::weak_ptr(waiter)] {
      if (const auto one = waiting.lock()) (*one)(before);
    });
    return waiter;
  }
  std::string key;
  for (const std::string& folder : folders) key += folder + '\0';
  const std::uint64_t room = room_beside(before ? before->index.memory() : 0);
  return walks_.walk(
      client, {key, project},
      [folders, id = next_id_++, ledger = ledger_, room, post = post_.shared(), this](const StopToken& stop) {
        auto files = index_within(folders, id, stop, room);
        if (files->no_room) {
          const LastWords words;
          log_warning("there is no room for all that lies below a workspace's folders (--memory-budget)");
        }
        return counted(std::move(files), ledger, [post, this] { post([this] { look_for_room(); }); });
      },
      [this, folders, done = std::move(done)](const Files& files) {
        if (!files) return;
        known_[folders] = {files, std::chrono::steady_clock::now()};
        done(files);
      });
}

std::shared_ptr<void> WorkspaceWalks::when_room(const Files& files, std::function<void()> room) {
  auto one = std::make_shared<Short>(Short{files, std::move(room)});
  short_.push_back(one);
  return one;
}

// Walking again is worth it for half as much again; what was found then has room of its own meanwhile.
void WorkspaceWalks::look_for_room() {
  std::vector<std::shared_ptr<Short>> now;
  std::erase_if(short_, [&](const std::weak_ptr<Short>& waiting) {
    const auto one = waiting.lock();
    const Files files = one ? one->files.lock() : nullptr;
    if (!files) return true;
    if (room_beside(files->index.memory()) < files->room + files->room / 2) return false;
    now.push_back(one);
    return true;
  });
  for (const auto& one : now) one->room();
}

}  // namespace profd
