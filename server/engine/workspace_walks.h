// WorkspaceWalks: one walk of the same folders for all who want it, so that ten clients of a project read its
// folders once; and how much memory what they find may take. Belongs to the strand.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/engine/memory_ledger.h"
#include "server/engine/shared_walks.h"
#include "server/engine/workspace_files.h"

namespace profd {

class WorkspaceWalks {
 public:
  using Files = std::shared_ptr<const WorkspaceFiles>;
  using Done = std::function<void(const Files&)>;
  // What was walked longer ago is walked again for the next who asks: files come and go.
  static constexpr std::chrono::seconds kFresh{30};

  // What is found is counted in the ledger. A walk may take half of what the others have left of `most`, and
  // always a 64th of it: what one client has in its folders leaves room for those of the next. What a walk
  // finds beyond is left out, and said (WorkspaceFiles::no_room).
  WorkspaceWalks(OneAtATime& turns, const Post& post, std::shared_ptr<MemoryLedger> ledger,
                 std::uint64_t most)
      : post_(post), ledger_(std::move(ledger)), most_(most), walks_(turns, post, "workspace walk") {}
  ~WorkspaceWalks() { stop(); }
  WorkspaceWalks(const WorkspaceWalks&) = delete;
  WorkspaceWalks& operator=(const WorkspaceWalks&) = delete;

  // `done` is called on the strand, unless what this gives is let go before. A walk that nobody waits for
  // stops. `project`: of its walks one is made at a time.
  [[nodiscard]] std::shared_ptr<void> walk(ClientId client, std::vector<std::string> folders,
                                           const std::string& project, Done done);
  // Calls `room` on the strand, once, when walking again would find more than `files`, for which there was no
  // room; unless what this gives is let go before.
  [[nodiscard]] std::shared_ptr<void> when_room(const Files& files, std::function<void()> room);
  // All of them: nobody is told any more.
  void stop();
  [[nodiscard]] std::uint64_t n_walked() const { return walks_.n_begun(); }

 private:
  struct Known {
    std::weak_ptr<const WorkspaceFiles> files;  // of the last walk, as long as somebody has them
    std::chrono::steady_clock::time_point walked_at;
  };
  struct Short {
    std::weak_ptr<const WorkspaceFiles> files;
    std::function<void()> room;
  };

  [[nodiscard]] std::uint64_t room_beside(std::uint64_t own) const;
  void look_for_room();

  GuardedPost post_;  // what was found may be let go of later than this
  std::shared_ptr<MemoryLedger> ledger_;
  std::uint64_t most_;
  std::map<std::vector<std::string>, Known> known_;  // by folders
  std::vector<std::weak_ptr<Short>> short_;
  std::uint64_t next_id_ = 1;
  SharedWalks<WorkspaceFiles> walks_;
};

}  // namespace profd
