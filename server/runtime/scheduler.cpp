#include "server/runtime/scheduler.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include "core/support/account.h"

namespace profd {

// Pieces are taken from a shared counter by helpers on the bulk lane and by the caller itself. The caller
// waits only for pieces that have been taken, never for a helper that has not started.
class Scheduler::WorkerExecutor final : public Executor {
 public:
  explicit WorkerExecutor(Scheduler& scheduler) : scheduler_(scheduler) {}

  // Bulk workers and the caller; neither the interactive worker nor the one left to others helps.
  unsigned width() const override {
    return std::max(1u, scheduler_.n_threads_ > 0 ? scheduler_.n_threads_ - 1 : 0);
  }

  void run(std::size_t n_tasks, const std::function<void(std::size_t)>& task) override {
    if (n_tasks == 0) return;
    auto job = std::make_shared<Job>(n_tasks, &task);
    const std::size_t n_helpers =
        scheduler_.n_threads_ < 2 ? 0 : std::min<std::size_t>(n_tasks - 1, scheduler_.n_threads_ - 2);
    if (n_helpers > 0) {
      const ClientId client = scheduler_.client_of_this_thread();
      try {
        for (std::size_t i = 0; i < n_helpers; ++i)
          scheduler_.submit_piece(client, [job, client, &scheduler = scheduler_] {
            while (!scheduler.others_wait(client) && job->take_piece()) {
            }
          });
      } catch (const std::exception&) {  // no memory for more help: the caller does the rest
      }
    }
    while (job->take_piece()) {
    }
    job->wait();
    if (job->thrown) std::rethrow_exception(job->thrown);
  }

 private:
  struct Job {
    Job(std::size_t n, const std::function<void(std::size_t)>* f) : n_tasks(n), task(f) {}

    // False: none is left. `task` lives as long as run() waits, and run() waits for every piece taken.
    bool take_piece() {
      const std::size_t i = next.fetch_add(1);
      if (i >= n_tasks) return false;
      std::exception_ptr exception;
      if (!failed) {
        const Account::Scope scope(account);
        try {
          (*task)(i);
        } catch (...) {
          exception = std::current_exception();
          failed = true;
        }
      }
      const std::lock_guard lock(mutex);
      if (exception && !thrown) thrown = std::move(exception);
      if (++n_done == n_tasks) done.notify_all();
      return true;
    }
    void wait() {
      std::unique_lock lock(mutex);
      done.wait(lock, [this] { return n_done == n_tasks; });
    }

    const std::size_t n_tasks;
    const std::function<void(std::size_t)>* task;
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::condition_variable done;
    std::size_t n_done = 0;
    std::exception_ptr thrown;  // the first; later pieces are left out
    std::atomic<bool> failed{false};
    Account* const account = Account::current();  // of who waits in run()
  };

  Scheduler& scheduler_;
};

Scheduler::Scheduler(unsigned n_threads, OnException on_exception)
    : n_threads_(n_threads == 1 ? 2 : n_threads),
      most_of_one_(std::max(1u, n_threads_ > 0 ? n_threads_ - 1 : 0)),
      on_exception_(std::move(on_exception)),
      executor_(std::make_unique<WorkerExecutor>(*this)) {}

Scheduler::~Scheduler() {
  std::vector<Named> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (auto& [id, client] : clients_)
      for (auto* lane : {&client.interactive, &client.bulk}) {
        std::move(lane->begin(), lane->end(), std::back_inserter(dropped));
        lane->clear();
      }
  }
  interactive_ready_.notify_all();
  shared_ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Scheduler::add(Lane lane, ClientId client, Named named, bool first) {
  if (workers_.empty()) start_threads();
  const auto [found, is_new] = clients_.try_emplace(client);
  // Who came and went before has had its turns: those who wait are served first.
  if (is_new) found->second.served = ++turn_;
  auto& queue = lane == Lane::interactive ? found->second.interactive : found->second.bulk;
  if (first)
    queue.push_front(std::move(named));
  else
    queue.push_back(std::move(named));
  ++(lane == Lane::interactive ? n_interactive_ : n_bulk_);
  if (lane != Lane::interactive) ++n_waiting_bulk_;
  if (client != kNobody) ++n_of_clients_;
}

void Scheduler::submit(Lane lane, ClientId client, std::string name, Task task, TaskKind kind) {
  Named named{std::move(name), std::move(task), kind};
  if (n_threads_ == 0) {
    run(named);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    add(lane, client, std::move(named), false);
  }
  if (lane == Lane::interactive) interactive_ready_.notify_one();
  shared_ready_.notify_one();
}

// Before what else the client has waiting: a piece is of something that has begun.
void Scheduler::submit_piece(ClientId client, Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    add(Lane::bulk, client, {"piece", std::move(task), TaskKind::answer}, true);
  }
  shared_ready_.notify_one();
}

bool Scheduler::full(ClientId client) const {
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(client);
  return found != clients_.end() &&
         found->second.interactive.size() + found->second.bulk.size() >= kMaxWaiting;
}

std::size_t Scheduler::n_tasks(Lane lane) const {
  const std::lock_guard lock(mutex_);
  return lane == Lane::interactive ? n_interactive_ : n_bulk_;
}

std::chrono::steady_clock::duration Scheduler::quiet() const {
  if (n_of_clients_ > 0) return {};
  return std::chrono::steady_clock::now() - last_of_client_.load();
}

ClientId Scheduler::client_of_this_thread() const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(workers_.begin(), workers_.end(), [](const Worker& worker) {
    return worker.id == std::this_thread::get_id();
  });
  return found == workers_.end() ? kNobody : found->client;
}

bool Scheduler::others_wait(ClientId client) {
  if (n_waiting_bulk_.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(mutex_);
  if (n_idle_shared_ > 0) return false;
  return std::any_of(clients_.begin(), clients_.end(), [&](const auto& item) {
    return item.first != client && item.first != kNobody && !item.second.bulk.empty() &&
           may_take(item, item.second.bulk);
  });
}

void Scheduler::start_threads() {
  const unsigned n_workers = n_threads_ + 1;
  threads_.reserve(n_workers);
  workers_.resize(n_workers);
  // The one for interactive tasks alone comes last: where not all are to be had, those that do both count.
  for (unsigned i = n_workers; i-- > 0;) {
    const Duty duty = i == 0 ? Duty::interactive_only : i == 1 ? Duty::bulk_first : Duty::interactive_first;
    try {
      threads_.emplace_back([this, i, duty] { work(i, duty); });
    } catch (const std::system_error&) {
      if (!threads_.empty()) return;
      workers_.clear();
      throw;
    }
    workers_[i].id = threads_.back().get_id();
  }
}

double Scheduler::Usage::now(std::chrono::steady_clock::time_point time) const {
  constexpr double kHalf = 10;
  return seconds * std::exp2(-std::chrono::duration<double>(time - at).count() / kHalf);
}

bool Scheduler::is_busy(const Clients::value_type& client) const {
  if (client.second.interactive.size() + client.second.bulk.size() > 1) return true;
  constexpr double kLong = 0.4;
  const auto found = usage_.find(client.first);
  return found != usage_.end() && found->second.now(std::chrono::steady_clock::now()) > kLong;
}

void Scheduler::used(ClientId client, std::chrono::steady_clock::time_point since) {
  constexpr std::size_t kMany = 256;
  constexpr double kForgotten = 0.01;
  const auto now = std::chrono::steady_clock::now();
  if (usage_.size() > kMany)
    std::erase_if(usage_, [&](const auto& item) { return item.second.now(now) < kForgotten; });
  const double took = std::chrono::duration<double>(now - since).count();
  const auto [usage, is_first] = usage_.try_emplace(client);
  usage->second = {is_first ? took : (usage->second.now(now) + took) / 2, now};
}

unsigned Scheduler::n_shared_busy() const {
  unsigned n = 0;
  for (const auto& client : clients_)
    if (client.second.n_shared > 0) n += is_busy(client) ? client.second.n_shared : client.second.n_long;
  return n;
}

bool Scheduler::may_take(const Clients::value_type& client, const std::deque<Named>& queue) const {
  if (client.second.n_shared >= most_of_one_) return false;
  if (queue.front().kind == TaskKind::reading && n_reading_ >= most_of_one_) return false;
  return !is_busy(client) || n_shared_busy() < most_of_one_;
}

Scheduler::Clients::iterator Scheduler::next_client(Lane lane, bool is_shared) {
  const auto rank = [](const Clients::value_type& item) {
    return std::pair(item.second.n_running, item.second.served);
  };
  auto best = clients_.end();
  for (auto it = clients_.begin(); it != clients_.end(); ++it) {
    const Client& client = it->second;
    const auto& queue = lane == Lane::interactive ? client.interactive : client.bulk;
    if (queue.empty()) continue;
    if (is_shared && !may_take(*it, queue)) continue;
    if (best == clients_.end() || rank(*it) < rank(*best)) best = it;
  }
  return best;
}

bool Scheduler::has_work_for_shared() {
  return next_client(Lane::interactive, true) != clients_.end() ||
         next_client(Lane::bulk, true) != clients_.end();
}

void Scheduler::work(std::size_t worker, Duty duty) {
  const bool is_shared = duty != Duty::interactive_only;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    Lane lane = duty == Duty::bulk_first ? Lane::bulk : Lane::interactive;
    auto found = next_client(lane, is_shared);
    if (found == clients_.end() && is_shared) {
      lane = lane == Lane::bulk ? Lane::interactive : Lane::bulk;
      found = next_client(lane, true);
    }
    if (found == clients_.end()) {
      n_idle_shared_ += is_shared ? 1 : 0;
      (is_shared ? shared_ready_ : interactive_ready_).wait(lock);
      n_idle_shared_ -= is_shared ? 1 : 0;
      continue;
    }
    Client& client = found->second;
    auto& queue = lane == Lane::interactive ? client.interactive : client.bulk;
    const bool is_busy_client = is_shared && is_busy(*found);
    const bool is_reading = is_shared && queue.front().kind == TaskKind::reading;
    const auto begun = std::chrono::steady_clock::now();
    {
      Named named = std::move(queue.front());
      queue.pop_front();
      if (lane != Lane::interactive) --n_waiting_bulk_;
      ++client.n_running;
      client.n_shared += is_shared ? 1 : 0;
      client.n_long += is_busy_client ? 1 : 0;
      n_reading_ += is_reading ? 1 : 0;
      client.served = ++turn_;
      workers_[worker].client = found->first;
      // What this worker did before may have kept a client from more; now an idle one may take it.
      if (n_idle_shared_ > 0 && has_work_for_shared()) shared_ready_.notify_one();
      lock.unlock();
      run(named);
    }  // what the task owned goes outside the lock
    lock.lock();
    --(lane == Lane::interactive ? n_interactive_ : n_bulk_);
    --client.n_running;
    client.n_shared -= is_shared ? 1 : 0;
    client.n_long -= is_busy_client ? 1 : 0;
    n_reading_ -= is_reading ? 1 : 0;
    used(found->first, begun);
    if (found->first != kNobody) {
      last_of_client_ = std::chrono::steady_clock::now();
      --n_of_clients_;
    }
    // Who may have been kept from more waits for a worker that sleeps.
    if (is_shared && n_idle_shared_ > 0 && has_work_for_shared()) shared_ready_.notify_one();
    if (client.n_running == 0 && client.interactive.empty() && client.bulk.empty()) clients_.erase(found);
  }
}

void Scheduler::run(Named& named) const {
  try {
    named.task();
  } catch (const std::exception& exception) {
    if (on_exception_) on_exception_(named.name, exception.what());
  } catch (...) {
    if (on_exception_) on_exception_(named.name, "unknown exception");
  }
}

void SharedTask::submit(Scheduler& scheduler, Lane lane, ClientId client, std::string name,
                        std::shared_ptr<SharedTask> shared) {
  scheduler.submit(lane, client, std::move(name), [shared = std::move(shared)] {
    if (shared->begun_.exchange(true)) return;
    Scheduler::Task task = std::move(shared->task_);  // what it owned goes with it
    task();
  });
}

}  // namespace profd
