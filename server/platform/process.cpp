#include "server/platform/process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

#ifdef __APPLE__
#include <mach-o/dyld.h>
#include <mach/mach.h>
#endif

#include <fmt/format.h>

namespace profd {
namespace {

Result<UniqueFd> open_path(const char* path, int flags) {
  UniqueFd fd(::open(path, flags | O_CLOEXEC, 0600));
  if (!fd.valid()) return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(errno)));
  return fd;
}

// Async-signal-safe. `limit` was asked for before the fork.
void close_from(int first, std::size_t limit) {
#if defined(__linux__) && defined(SYS_close_range)
  if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0U) == 0) return;
#endif
  constexpr std::size_t kMost = std::size_t{1} << 16;
  for (std::size_t fd = static_cast<std::size_t>(first); fd < std::min(limit, kMost); ++fd)
    ::close(static_cast<int>(fd));
}

}  // namespace

void open_standard_descriptors() {
  // The lowest that is free is taken: in order, the gap itself.
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) static_cast<void>(::open("/dev/null", O_RDWR));
}

void keep_from_children(int fd) {
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

std::size_t descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 1u << 20;
  return static_cast<std::size_t>(limit.rlim_cur);
}

Result<UniqueFd> take_stdout() {
  UniqueFd out(::fcntl(1, F_DUPFD_CLOEXEC, 3));
  if (!out.valid() || ::dup2(2, 1) < 0)
    return fail(ErrorCode::io, fmt::format("stdout: {}", std::strerror(errno)));
#ifdef F_SETPIPE_SZ
  // Room for a whole flame graph, so that writer and reader need not take turns. Refused where it is no pipe
  // or the user has too many such pipes, and no loss then.
  ::fcntl(out.get(), F_SETPIPE_SZ, 1 << 20);
#endif
  return out;
}

Result<std::string> own_executable() {
  char buffer[PATH_MAX];
#ifdef __APPLE__
  std::uint32_t size = sizeof(buffer);
  if (_NSGetExecutablePath(buffer, &size) != 0) return fail(ErrorCode::io, "the program's path is not known");
  return std::string(buffer);
#else
  const ssize_t size = ::readlink("/proc/self/exe", buffer, sizeof(buffer));
  if (size <= 0 || size == static_cast<ssize_t>(sizeof(buffer)))
    return fail(ErrorCode::io, "the program's path is not known");
  return std::string(buffer, static_cast<std::size_t>(size));
#endif
}

Result<void> spawn_detached(const std::vector<std::string>& argv, const std::string& log_path) {
  PROFD_TRY(const UniqueFd log, open_path(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW));
  PROFD_TRY(const UniqueFd null, open_path("/dev/null", O_RDWR));
  std::vector<char*> raw;
  for (const std::string& arg : argv) raw.push_back(const_cast<char*>(arg.c_str()));
  raw.push_back(nullptr);
  const std::size_t limit = descriptor_limit();
  const pid_t child = ::fork();
  if (child < 0) return fail(ErrorCode::io, fmt::format("fork: {}", std::strerror(errno)));
  if (child == 0) {
    // Only async-signal-safe calls between fork and exec. The second fork gives the daemon to init.
    ::setsid();
    const pid_t daemon = ::fork();
    if (daemon != 0) ::_exit(daemon < 0 ? 1 : 0);
    ::dup2(null.get(), 0);
    ::dup2(log.get(), 1);
    ::dup2(log.get(), 2);
    close_from(3, limit);
    if (::chdir("/") != 0) ::_exit(126);
    ::execv(raw[0], raw.data());
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(ErrorCode::io, "the daemon could not be started");
  return {};
}

Result<FileLock> FileLock::acquire(const std::string& path, int timeout_ms) {
  PROFD_TRY(UniqueFd fd, open_path(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(errno)));
    if (std::chrono::steady_clock::now() > deadline)
      return fail(ErrorCode::io, path + ": another process holds this lock");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return FileLock(std::move(fd));
}

std::uint64_t resident_bytes() {
#ifdef __linux__
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long total = 0;
  unsigned long long resident = 0;
  const int n_read = std::fscanf(file, "%llu %llu", &total, &resident);
  std::fclose(file);
  return n_read == 2 ? resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
#else
  mach_task_basic_info info{};
  mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
  const auto task_info_result =
      task_info(mach_task_self(), MACH_TASK_BASIC_INFO, reinterpret_cast<task_info_t>(&info), &count);
  return task_info_result == KERN_SUCCESS ? info.resident_size : 0;
#endif
}

bool process_alive(std::int64_t pid) {
  if (pid <= 0 || pid > INT_MAX) return false;
  return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
}

}  // namespace profd
