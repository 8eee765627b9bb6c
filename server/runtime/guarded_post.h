// GuardedPost: posts tasks to the strand that are of use only as long as the object that posts them is there.
// A member of that object.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "server/runtime/post.h"

namespace profd {

class GuardedPost {
 public:
  // The same for what may outlive the owner: tasks of workers, and what they leave behind. Safe from any
  // thread.
  class Shared {
   public:
    // Runs the task on the strand, unless the owner has ended by then.
    void operator()(UniqueFunction<void()> task) const {
      if (owner_is_there())
        post_([owner = owner_, task = std::move(task)]() mutable {
          if (owner->load()) task();
        });
    }
    // What is asked on the strand stays true until the end of the task that asks.
    [[nodiscard]] bool owner_is_there() const { return owner_->load(); }

   private:
    friend class GuardedPost;
    explicit Shared(Post post) : post_(std::move(post)) {}
    Post post_;
    std::shared_ptr<std::atomic<bool>> owner_ = std::make_shared<std::atomic<bool>>(true);
  };

  explicit GuardedPost(Post post) : shared_(std::move(post)) {}
  ~GuardedPost() { end(); }
  GuardedPost(const GuardedPost&) = delete;
  GuardedPost& operator=(const GuardedPost&) = delete;

  void operator()(UniqueFunction<void()> task) const { shared_(std::move(task)); }
  [[nodiscard]] const Shared& shared() const { return shared_; }
  // On the strand: nothing that was posted runs any more.
  void end() { shared_.owner_->store(false); }

 private:
  Shared shared_;
};

}  // namespace profd
