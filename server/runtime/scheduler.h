// Scheduler: the worker threads of the daemon, in two lanes, taken by clients in turn.
//
// Every task belongs to a client. A free worker takes the next task of the client with the fewest running,
// among these of the one whose turn was longest ago: who has queued a thousand waits for itself, and who
// comes anew stands behind those who wait. Of the workers for both lanes a client holds all but one at most,
// so do all together that have more waiting or whose tasks take long, and so do all whose messages are being
// read: the task of one who asks for little begins at once, or when one task of somebody else ends. Parallel
// pieces of a task are its client's, and make way for others between two pieces.
//
// One worker takes nothing but interactive tasks, so that an `open` of a gigabyte never delays a hover; one
// prefers bulk tasks, so that a flood of hovers never holds up an `open`; the others prefer interactive ones.
// With 0 threads every task runs inside submit(), which is what tests use. Threads start with the first task,
// so an idle daemon has none.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/support/executor.h"
#include "core/support/unique_function.h"
#include "protocol/lane.h"

namespace profd {

// Declared with the messages; what is `inline_` needs no scheduler.
using protocol::Lane;

// What a task is for. Reading a message is not yet what its client wants: however many of them read theirs,
// one worker stays free of that.
enum class TaskKind : std::uint8_t { answer, reading };

// Whose work it is.
using ClientId = std::uint32_t;
// The daemon itself, which has its turns like a client.
inline constexpr ClientId kNobody = 0;

class Scheduler {
 public:
  using Task = UniqueFunction<void()>;
  // Called when a task throws: its name and what the exception says.
  using OnException = std::function<void(const std::string& name, const std::string& what)>;
  // Tasks of one client that may wait. Who submits for clients asks full() before.
  static constexpr std::size_t kMaxWaiting = 1000;

  // `n_threads`: the width of parallel work, and one. There is one worker more: the one that a client leaves
  // to the others.
  explicit Scheduler(unsigned n_threads, OnException on_exception = {});
  ~Scheduler();  // drops what waits, finishes what runs
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // `name` is what a fault is logged with. An exception ends the task, not the worker; whatever the task
  // owned (a ReplyOnce above all) is destroyed and so answers.
  void submit(Lane lane, ClientId client, std::string name, Task task, TaskKind kind = TaskKind::answer);
  // Whether kMaxWaiting tasks of the client wait.
  [[nodiscard]] bool full(ClientId client) const;

  [[nodiscard]] unsigned n_threads() const { return n_threads_; }
  // Waiting and running tasks of a lane.
  [[nodiscard]] std::size_t n_tasks(Lane lane) const;
  // Since when no client has had anything waiting or running; 0 while one has. Cheap.
  [[nodiscard]] std::chrono::steady_clock::duration quiet() const;

  // Runs pieces on bulk workers; the caller takes part, so it is safe from a worker and with 0 threads.
  Executor& executor() { return *executor_; }

 private:
  class WorkerExecutor;
  enum class Duty : std::uint8_t { interactive_only, bulk_first, interactive_first };
  struct Named {
    std::string name;
    Task task;
    TaskKind kind = TaskKind::answer;
  };
  // There as long as something of the client waits or runs.
  struct Client {
    std::deque<Named> interactive, bulk;
    unsigned n_running = 0;    // on all workers
    unsigned n_shared = 0;     // on those for both lanes
    unsigned n_long = 0;       // of these, begun when it was busy
    std::uint64_t served = 0;  // its last turn, or when it came
  };
  using Clients = std::map<ClientId, Client>;
  // How long tasks of a client take: each counts as much as all before it, and half after ten seconds.
  struct Usage {
    double seconds = 0;
    std::chrono::steady_clock::time_point at;
    [[nodiscard]] double now(std::chrono::steady_clock::time_point time) const;
  };
  struct Worker {
    std::thread::id id;
    ClientId client = kNobody;  // whose task it runs
  };

  void start_threads();
  void work(std::size_t worker, Duty duty);
  void run(Named& named) const;
  // All of these want `mutex_` to be held.
  void add(Lane lane, ClientId client, Named named, bool first);
  Clients::iterator next_client(Lane lane, bool is_shared);
  // The queue's first task, by a worker for both lanes.
  [[nodiscard]] bool may_take(const Clients::value_type& client, const std::deque<Named>& queue) const;
  // Would hold a worker for long, or again and again.
  [[nodiscard]] bool is_busy(const Clients::value_type& client) const;
  // Workers for both lanes that busy clients have. Who asks for more and more is busy with what it began
  // before, too.
  [[nodiscard]] unsigned n_shared_busy() const;
  void used(ClientId client, std::chrono::steady_clock::time_point since);
  [[nodiscard]] bool has_work_for_shared();
  // For pieces; they take the lock.
  void submit_piece(ClientId client, Task task);
  [[nodiscard]] ClientId client_of_this_thread() const;
  [[nodiscard]] bool others_wait(ClientId client);

  unsigned n_threads_;
  unsigned most_of_one_;  // workers for both lanes that one client may hold
  OnException on_exception_;
  std::unique_ptr<Executor> executor_;
  std::atomic<std::size_t> n_waiting_bulk_{0};  // changed under `mutex_`, read without it between two pieces
  std::atomic<std::size_t> n_of_clients_{0};    // waiting and running; so are these
  std::atomic<std::chrono::steady_clock::time_point> last_of_client_{};
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable interactive_ready_, shared_ready_;
  Clients clients_;
  std::uint64_t turn_ = 0;
  std::map<ClientId, Usage> usage_;
  unsigned n_idle_shared_ = 0;
  unsigned n_reading_ = 0;                      // workers for both lanes that read messages
  std::size_t n_interactive_ = 0, n_bulk_ = 0;  // waiting and running
  bool stopping_ = false;
  std::vector<Worker> workers_;       // those that could not be started have no id
  std::vector<std::thread> threads_;  // joined without the lock
};

// A task that several clients wait for. Submitted for each of them, it is done once, at the first one's turn:
// nobody waits in another one's queue.
class SharedTask {
 public:
  explicit SharedTask(Scheduler::Task task) : task_(std::move(task)) {}
  [[nodiscard]] bool begun() const { return begun_.load(); }
  static void submit(Scheduler& scheduler, Lane lane, ClientId client, std::string name,
                     std::shared_ptr<SharedTask> shared);

 private:
  std::atomic<bool> begun_{false};
  Scheduler::Task task_;  // of the thread that set `begun_`
};

}  // namespace profd
