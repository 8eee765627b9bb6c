// WorkerProcess: a program of ours that does what must not fail the daemon: reading binaries, running a
// user's script. It has one end of a pair of sockets (workers/frames.h), nothing else of the daemon, an empty
// environment, bounds of the system, and is ended with this object. What it may call is for itself to give up
// (workers/sandbox.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "core/support/result.h"
#include "core/support/unique_fd.h"
#include "workers/frames.h"

namespace profd {

// Its own; on Linux alone, elsewhere only the daemon's clock bounds it.
struct WorkerLimits {
  std::uint64_t memory = std::uint64_t{1} << 30;          // bytes that it can write to
  std::uint64_t address_space = std::uint64_t{16} << 30;  // those with what it maps
  unsigned cpu_s = 120;
  unsigned files = 64;
  std::uint64_t file_bytes = 0;  // that it may write into one
};

class WorkerProcess {
 public:
  // `io`: the program is not there, or cannot be started. That it runs and is ours its first frame says.
  // `argument`: its only one; "" none.
  static Result<WorkerProcess> start(const std::string& program, const WorkerLimits& limits,
                                     const std::string& argument = {});
  ~WorkerProcess();  // killed, if it still runs
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;

  // As send_frame() and receive_frame(). After an error it is of no more use; end() says what became of it.
  Result<void> send(std::string_view bytes, const std::vector<int>& files, FrameDeadline deadline);
  Result<Frame> receive(FrameDeadline deadline);
  // For poll(): readable when a frame begins, or when it is gone.
  [[nodiscard]] int socket() const { return socket_.get(); }
  [[nodiscard]] pid_t pid() const { return pid_; }

  // After an error of send() or receive(): what it ended by, as the rest of a sentence ("was killed",
  // "crashed (SIGSEGV)", "needed more than 1024 MiB of memory"). "" where it did not end and is killed now,
  // or all is well.
  std::string end();
  // Whatever it is doing.
  void kill();

 private:
  WorkerProcess(pid_t pid, UniqueFd socket, const WorkerLimits& limits);

  pid_t pid_ = -1;  // -1: none any more
  UniqueFd socket_;
  WorkerLimits limits_;
};

}  // namespace profd
