// WorkspaceWalks: one walk of the same folders for all who want it, so that ten clients of a project read its
// folders once. Belongs to the strand.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/support/stop.h"
#include "server/engine/memory_ledger.h"
#include "server/engine/workspace_files.h"
#include "server/runtime/post.h"
#include "server/runtime/scheduler.h"

namespace profd {

class WorkspaceWalks {
 public:
  using Files = std::shared_ptr<const WorkspaceFiles>;
  using Done = std::function<void(const Files&)>;
  // What was walked longer ago is walked again for the next who asks: files come and go.
  static constexpr std::chrono::seconds kFresh{30};

  // What is found is counted in the ledger. When all indexes together hold more than `most`, the next walk
  // finds nothing, and says that it is not complete.
  WorkspaceWalks(Scheduler& scheduler, Post post, std::shared_ptr<MemoryLedger> ledger, std::uint64_t most)
      : scheduler_(scheduler), post_(std::move(post)), ledger_(std::move(ledger)), most_(most) {}
  ~WorkspaceWalks();
  WorkspaceWalks(const WorkspaceWalks&) = delete;
  WorkspaceWalks& operator=(const WorkspaceWalks&) = delete;

  // `done` is called on the strand, unless what this gives is let go before. A walk that nobody waits for
  // stops.
  [[nodiscard]] std::shared_ptr<void> walk(ClientId client, std::vector<std::string> folders, Done done);
  // All of them: nobody is told any more.
  void stop();
  [[nodiscard]] std::uint64_t n_walked() const { return next_id_ - 1; }

 private:
  struct Request {
    ClientId client;
    Done done;
  };
  using Waiter = std::weak_ptr<Request>;
  struct Entry {
    std::weak_ptr<const WorkspaceFiles> files;  // of the last walk, as long as somebody has them
    std::chrono::steady_clock::time_point walked_at;
    std::shared_ptr<StopSource> walking;  // null: not now
    std::shared_ptr<SharedTask> task;     // of the walking
    std::vector<Waiter> waiters;
  };

  void start(ClientId client, const std::vector<std::string>& folders, Entry& entry);
  void walked(const std::vector<std::string>& folders, const Files& files);

  Scheduler& scheduler_;
  Post post_;
  std::shared_ptr<MemoryLedger> ledger_;
  std::uint64_t most_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::map<std::vector<std::string>, Entry> entries_;  // by folders
  std::uint64_t next_id_ = 1;
};

}  // namespace profd
