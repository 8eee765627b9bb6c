// OneAtATime: tasks on workers, of which those of one key run one after another: whoever asks for them, and
// however many, they take one worker at most. Belongs to the strand.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/runtime/guarded_post.h"
#include "server/runtime/scheduler.h"

namespace profd {

class OneAtATime {
 public:
  OneAtATime(Scheduler& scheduler, Post post) : scheduler_(scheduler), post_(std::move(post)) {}
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;

  // To be submitted once or more, for each client that waits for it: in bulk, when those of `key` before it
  // are over, at the first client's turn.
  [[nodiscard]] std::shared_ptr<SharedTask> make(const std::string& key, Scheduler::Task task);
  void submit(const std::string& key, ClientId client, const std::string& name,
              const std::shared_ptr<SharedTask>& task);

 private:
  struct Item {
    std::shared_ptr<SharedTask> task;
    std::string name;
    std::vector<ClientId> clients;
  };

  void begin(const std::string& key);
  void over(const std::string& key);

  Scheduler& scheduler_;
  GuardedPost post_;
  std::map<std::string, std::deque<Item>> queues_;  // by key; the first runs, or is the scheduler's
};

}  // namespace profd
