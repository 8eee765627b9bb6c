#include "server/engine/one_at_a_time.h"

#include <algorithm>
#include <utility>

#include "server/engine/afterwards.h"

namespace profd {

std::shared_ptr<SharedTask> OneAtATime::make(const std::string& key, Scheduler::Task task) {
  return std::make_shared<SharedTask>([this, key, post = post_.shared(), task = std::move(task)]() mutable {
    const Afterwards next(post, [this, key] { over(key); });
    task();
  });
}

void OneAtATime::submit(const std::string& key, ClientId client, const std::string& name,
                        const std::shared_ptr<SharedTask>& task) {
  std::deque<Item>& queue = queues_[key];
  const auto known =
      std::find_if(queue.begin(), queue.end(), [&](const Item& item) { return item.task == task; });
  if (known == queue.end()) {
    queue.push_back({task, name, {client}});
    if (queue.size() == 1) begin(key);
    return;
  }
  if (std::count(known->clients.begin(), known->clients.end(), client) != 0) return;
  known->clients.push_back(client);
  if (known == queue.begin()) SharedTask::submit(scheduler_, Lane::bulk, client, name, task);
}

void OneAtATime::begin(const std::string& key) {
  const Item first = queues_.at(key).front();  // without workers it is gone after the first of these
  for (const ClientId client : first.clients)
    SharedTask::submit(scheduler_, Lane::bulk, client, first.name, first.task);
}

void OneAtATime::over(const std::string& key) {
  const auto queue = queues_.find(key);
  if (queue == queues_.end()) return;
  queue->second.pop_front();
  if (queue->second.empty())
    queues_.erase(queue);
  else
    begin(key);
}

}  // namespace profd
