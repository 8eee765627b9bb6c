#include "server/platform/worker_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/platform/child.h"
#include "workers/exit_codes.h"

namespace profd {
namespace {

// What is ending by itself has this long to do so.
constexpr std::chrono::milliseconds kToEnd{500};

// It waits for its first order by now, or for less.
void bound_all([[maybe_unused]] pid_t child, [[maybe_unused]] const WorkerLimits& limits) {
#ifdef __linux__
  bound(child, RLIMIT_DATA, limits.memory);
  bound(child, RLIMIT_AS, limits.address_space);
  bound(child, RLIMIT_CPU, limits.cpu_s, 1);  // a signal that tells this end from others comes first
  bound(child, RLIMIT_NOFILE, limits.files);
  bound(child, RLIMIT_FSIZE, limits.file_bytes);
  bound(child, RLIMIT_CORE, 0);
#endif
}

std::string signal_text(int signal, const WorkerLimits& limits) {
  switch (signal) {
    case SIGSEGV:
      return "crashed (SIGSEGV)";
    case SIGBUS:
      return "crashed (SIGBUS)";
    case SIGABRT:
      return "crashed (SIGABRT)";
    case SIGFPE:
      return "crashed (SIGFPE)";
    case SIGILL:
      return "crashed (SIGILL)";
    case SIGXCPU:
      return fmt::format("took more than {} s of processor time", limits.cpu_s);
    case SIGKILL:
      return "was killed";
    default:
      return fmt::format("was ended by signal {}", signal);
  }
}

std::string exit_text(int code, const WorkerLimits& limits) {
  if (code == 0) return "";
  if (code == kWorkerOutOfMemory)
    return fmt::format("needed more than {} MiB of memory", limits.memory >> 20);
  if (code == kWorkerNotConfined) return "could not be confined by the system, and so does not run";
  if (code == 127) return "did not start";
  return fmt::format("ended with exit code {}", code);
}

}  // namespace

WorkerProcess::WorkerProcess(pid_t pid, UniqueFd socket, const WorkerLimits& limits)
    : pid_(pid), socket_(std::move(socket)), limits_(limits) {}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)), limits_(other.limits_) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  if (this != &other) {
    kill();
    pid_ = std::exchange(other.pid_, -1);
    socket_ = std::move(other.socket_);
    limits_ = other.limits_;
  }
  return *this;
}

WorkerProcess::~WorkerProcess() {
  kill();
}

Result<WorkerProcess> WorkerProcess::start(const std::string& program, const WorkerLimits& limits,
                                           const std::string& argument) {
  if (::access(program.c_str(), X_OK) != 0)
    return fail(ErrorCode::io, fmt::format("{}: {}", program, std::strerror(errno)));
  PROFD_TRY(auto ends, make_frame_sockets());
  std::vector<int> all;
  for (int signal = 1; signal < NSIG; ++signal)
    if (signal != SIGKILL && signal != SIGSTOP) all.push_back(signal);
  Child process(all);
  // First of all, as what is opened below may take its number.
  process.give(ends.second.get(), kWorkerSocket);
  process.give_nothing(0, O_RDONLY);
  process.give_nothing(1, O_WRONLY);
  process.give_nothing(2, O_WRONLY);
  process.close_from(kWorkerSocket + 1);
  std::string name = program, only = argument;
  char* const argv[] = {name.data(), only.empty() ? nullptr : only.data(), nullptr};
  char* const environment[] = {nullptr};
  PROFD_TRY(const pid_t child, process.start(program, argv, environment));
  bound_all(child, limits);
  return WorkerProcess(child, std::move(ends.first), limits);
}

Result<void> WorkerProcess::send(std::string_view bytes, const std::vector<int>& files,
                                 FrameDeadline deadline) {
  return send_frame(socket_.get(), bytes, files, deadline);
}

Result<Frame> WorkerProcess::receive(FrameDeadline deadline) {
  return receive_frame(socket_.get(), deadline);
}

void WorkerProcess::kill() {
  socket_.reset();
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);  // who has no group of its own yet
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::string WorkerProcess::end() {
  // Who has died is dead in a moment, and who is well ends by itself when nothing more can come.
  socket_.reset();
  const auto patience = std::chrono::steady_clock::now() + kToEnd;
  while (pid_ >= 0 && std::chrono::steady_clock::now() < patience) {
    int status = 0;
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == pid_) {
      pid_ = -1;
      return WIFEXITED(status) ? exit_text(WEXITSTATUS(status), limits_)
                               : signal_text(WTERMSIG(status), limits_);
    }
    if (ended < 0 && errno != EINTR) break;
    ::poll(nullptr, 0, 1);
  }
  kill();
  return "";
}

}  // namespace profd
