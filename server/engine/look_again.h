// LookAgain: looks at the disk on a worker, one look at a time, and once more where it was asked to
// meanwhile. Belongs to the strand.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "server/engine/afterwards.h"
#include "server/runtime/guarded_post.h"
#include "server/runtime/scheduler.h"

namespace profd {

template <class Found>
class LookAgain {
 public:
  // `what` names the work in what the daemon says it does.
  LookAgain(Scheduler& scheduler, Post post, const char* what)
      : scheduler_(scheduler), post_(std::move(post)), what_(what) {}
  LookAgain(const LookAgain&) = delete;
  LookAgain& operator=(const LookAgain&) = delete;

  // Before the first look. `look` runs on a worker; `take` gets what it found, or nothing where there was no
  // memory for it.
  void start(ClientId client, std::function<Found()> look, std::function<void(std::optional<Found>)> take) {
    client_ = client;
    look_ = std::move(look);
    take_ = std::move(take);
  }
  void look() {
    if (std::exchange(is_looking_, true)) {
      look_again_ = true;
      return;
    }
    const auto found = std::make_shared<std::optional<Found>>();
    const auto told = std::make_shared<Afterwards<GuardedPost::Shared>>(
        post_.shared(), [this, found] { done(std::move(*found)); });
    scheduler_.submit(Lane::interactive, client_, what_, [told, found, look = look_] { *found = look(); });
  }
  // Nothing is taken any more. To be called before the engine goes.
  void stop() { post_.end(); }

 private:
  void done(std::optional<Found> found) {
    is_looking_ = false;
    const bool again = std::exchange(look_again_, false);
    take_(std::move(found));
    if (again) look();
  }

  Scheduler& scheduler_;
  GuardedPost post_;
  const char* what_;
  ClientId client_ = kNobody;
  std::function<Found()> look_;
  std::function<void(std::optional<Found>)> take_;
  bool is_looking_ = false, look_again_ = false;
};

}  // namespace profd
