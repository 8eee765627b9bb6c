// SharedWalks: one walk over the same files for all who want what it finds. Belongs to the strand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/support/stop.h"
#include "server/engine/afterwards.h"
#include "server/engine/one_at_a_time.h"
#include "server/runtime/guarded_post.h"

namespace profd {

template <class Found>
class SharedWalks {
 public:
  using FoundPtr = std::shared_ptr<const Found>;
  using Done = std::function<void(const FoundPtr&)>;
  // On a worker. Null when it could not be done.
  using Work = std::function<FoundPtr(const StopToken& stop)>;
  struct What {
    std::string key;         // equal keys mean equal work
    std::string project;     // of its walks one is made at a time
    bool join_begun = true;  // what a walk finds that began before is good enough
  };

  SharedWalks(OneAtATime& turns, Post post, std::string name)
      : turns_(turns), post_(std::move(post)), name_(std::move(name)) {}
  ~SharedWalks() { stop(); }
  SharedWalks(const SharedWalks&) = delete;
  SharedWalks& operator=(const SharedWalks&) = delete;

  // `done` is called on the strand, unless what this gives is let go before. A walk that nobody waits for
  // stops.
  [[nodiscard]] std::shared_ptr<void> walk(ClientId client, const What& what, Work work, Done done) {
    Entry& entry = entries_[what.key];
    entry.project = what.project;
    entry.work = std::move(work);
    auto waiter = std::make_shared<Request>(Request{client, std::move(done)});
    if (!entry.walking) {
      entry.waiters.push_back(waiter);
      start(what.key, client);
    } else if (!entry.task->begun()) {
      entry.waiters.push_back(waiter);
      turns_.submit(entry.project, client, name_, entry.task);
    } else {
      (what.join_begun ? entry.waiters : entry.next).push_back(waiter);
    }
    // The last who waits takes the walk with it.
    return {waiter.get(), [this, post = post_.shared(), key = what.key, waiter](void*) mutable {
              waiter.reset();
              if (!post.owner_is_there()) return;
              const auto found = entries_.find(key);
              if (found == entries_.end() || !found->second.walking) return;
              const auto gone = [](const Waiter& one) { return one.expired(); };
              std::erase_if(found->second.waiters, gone);
              std::erase_if(found->second.next, gone);
              if (found->second.waiters.empty()) found->second.walking->request_stop();
            }};
  }
  // All of them: nobody is told any more.
  void stop() {
    for (auto& [key, entry] : entries_)
      if (entry.walking) entry.walking->request_stop();
    post_.end();
  }
  [[nodiscard]] std::uint64_t n_begun() const { return n_begun_; }

 private:
  struct Request {
    ClientId client;
    Done done;
  };
  using Waiter = std::weak_ptr<Request>;
  // There as long as it is walked.
  struct Entry {
    std::string project;
    Work work;
    std::shared_ptr<StopSource> walking;
    std::shared_ptr<SharedTask> task;
    std::vector<Waiter> waiters, next;  // `next`: of a walk that begins after this one
  };

  void start(const std::string& key, ClientId client) {
    Entry& entry = entries_.at(key);
    ++n_begun_;
    entry.walking = std::make_shared<StopSource>();
    const auto found = std::make_shared<FoundPtr>();
    const auto task = turns_.make(
        entry.project, [this, post = post_.shared(), key, work = entry.work, stop = *entry.walking, found] {
          const Afterwards told(post, [this, key, found] { walked(key, std::exchange(*found, nullptr)); });
          *found = work(StopToken(stop));
        });
    entry.task = task;
    turns_.submit(entry.project, client, name_, task);  // without workers it is over after this
  }

  void walked(const std::string& key, const FoundPtr& found) {
    const auto known = entries_.find(key);
    if (known == entries_.end()) return;
    Entry& entry = known->second;
    const bool stopped = entry.walking && entry.walking->stopped();
    entry.walking.reset();
    entry.task.reset();
    std::vector<Waiter> told = std::exchange(entry.waiters, {});
    std::vector<Waiter> again = std::exchange(entry.next, {});
    // Somebody came while the walk was being given up: it is theirs from the beginning.
    if (stopped) again.insert(again.end(), told.begin(), told.end());
    ClientId client = kNobody;
    for (const Waiter& waiter : again)
      if (const auto one = waiter.lock()) {
        client = one->client;
        entry.waiters.push_back(waiter);
      }
    if (!entry.waiters.empty())
      start(key, client);
    else
      entries_.erase(known);
    if (stopped) return;
    for (const Waiter& waiter : told)
      if (const auto one = waiter.lock()) one->done(found);
  }

  OneAtATime& turns_;
  GuardedPost post_;
  std::string name_;
  std::map<std::string, Entry> entries_;
  std::uint64_t n_begun_ = 0;
};

}  // namespace profd
