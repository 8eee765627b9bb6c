#include "server/platform/worker_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workers/exit_codes.h"

namespace profd {
namespace {

// What is ending by itself has this long to do so.
constexpr std::chrono::milliseconds kToEnd{500};

#ifdef __linux__
void bound(pid_t child, __rlimit_resource what, std::uint64_t most, std::uint64_t beyond = 0) {
  rlimit now{};
  if (::prlimit(child, what, nullptr, &now) != 0) return;
  const rlim_t soft = std::min<rlim_t>(static_cast<rlim_t>(most), now.rlim_max);
  const rlimit wanted{soft, std::min<rlim_t>(soft + static_cast<rlim_t>(beyond), now.rlim_max)};
  ::prlimit(child, what, &wanted, nullptr);
}
#endif

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
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  // First of all, as what is opened below may take its number.
  ::posix_spawn_file_actions_adddup2(&actions, ends.second.get(), kWorkerSocket);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kWorkerSocket + 1);
#endif
  sigset_t to_default, to_block;
  sigfillset(&to_default);
  for (const int signal : {SIGKILL, SIGSTOP}) sigdelset(&to_default, signal);
  sigemptyset(&to_block);
  // A group of its own: what a terminal sends to the daemon's is not for it.
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setsigdefault(&attributes, &to_default);
  ::posix_spawnattr_setsigmask(&attributes, &to_block);
  ::posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                                             POSIX_SPAWN_SETSIGMASK));
  std::string name = program, only = argument;
  char* const argv[] = {name.data(), only.empty() ? nullptr : only.data(), nullptr};
  char* const environment[] = {nullptr};
  pid_t child = -1;
  const int error = ::posix_spawn(&child, program.c_str(), &actions, &attributes, argv, environment);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return fail(ErrorCode::io, fmt::format("{}: {}", program, std::strerror(error)));
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
