#include "server/platform/run.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/support/unique_fd.h"
#include "server/platform/child.h"

extern char** environ;

namespace profd {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMaxErrors = 4096;

struct Pipe {
  UniqueFd read, write;
};
Result<Pipe> make_pipe() {
  int ends[2];
#ifdef __linux__
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorCode::io, fmt::format("pipe: {}", std::strerror(errno)));
#else
  if (::pipe(ends) != 0) return fail(ErrorCode::io, fmt::format("pipe: {}", std::strerror(errno)));
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
#endif
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::vector<std::string> environment_of(const RunRequest& request) {
  std::vector<std::string> out;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry = *at;
    const std::string_view name = entry.substr(0, entry.find('='));
    if (!request.without_prefix.empty() && name.starts_with(request.without_prefix)) continue;
    bool replaced = false;
    for (const auto& [key, value] : request.environment) replaced = replaced || key == name;
    if (!replaced) out.emplace_back(entry);
  }
  for (const auto& [key, value] : request.environment) out.push_back(key + "=" + value);
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

Result<pid_t> spawn(const RunRequest& request, const Pipe& output, const Pipe& errors) {
  std::vector<std::string> argv = request.argv, environment = environment_of(request);
  constexpr std::array kToDefault{SIGPIPE, SIGXFSZ};
  Child child(kToDefault);
  child.give_nothing(0, O_RDONLY);
  child.give(output.write.get(), 1);
  child.give(errors.write.get(), 2);
  child.close_from(3);
  return child.start(argv.front(), pointers_to(argv).data(), pointers_to(environment).data());
}

// The program is there by now, and has done next to nothing.
void limit([[maybe_unused]] const RunRequest& request, [[maybe_unused]] pid_t child) {
#ifdef __linux__
  if (request.max_memory != 0) bound(child, RLIMIT_DATA, request.max_memory);
  if (request.max_cpu_s != 0) bound(child, RLIMIT_CPU, request.max_cpu_s);
  if (request.max_files != 0) bound(child, RLIMIT_NOFILE, request.max_files);
  if (!request.may_write) {
    bound(child, RLIMIT_FSIZE, 0);
    bound(child, RLIMIT_CORE, 0);
  }
#endif
}

// Reads what is there. False: the other end is closed, or more came than may.
bool take(int fd, std::string& into, std::size_t limit, bool drop_rest, bool& too_much) {
  std::array<char, 16384> buffer;
  const ssize_t n = ::read(fd, buffer.data(), buffer.size());
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n == 0) return false;
  const auto got = static_cast<std::size_t>(n);
  if (into.size() + got > limit && !drop_rest) {
    too_much = true;
    return false;
  }
  into.append(buffer.data(), std::min(got, limit - into.size()));
  return true;
}

}  // namespace

Result<RunAnswer> run_program(const RunRequest& request, StopToken stop) {
  PROFD_TRY(Pipe output, make_pipe());
  PROFD_TRY(Pipe errors, make_pipe());
  PROFD_TRY(const pid_t child, spawn(request, output, errors));
  limit(request, child);
  output.write = UniqueFd();
  errors.write = UniqueFd();
  RunAnswer answer;
  const auto deadline = Clock::now() + request.timeout;
  bool out_open = true, err_open = true, too_much = false, in_time = true;
  while ((out_open || err_open) && !too_much) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    in_time = left > 0 && !stop.stop_requested();
    if (!in_time) break;
    std::array<pollfd, 2> fds = {pollfd{out_open ? output.read.get() : -1, POLLIN, 0},
                                 pollfd{err_open ? errors.read.get() : -1, POLLIN, 0}};
    // Wakes now and then to see whether the answer is still wanted.
    if (::poll(fds.data(), fds.size(), static_cast<int>(std::min<std::int64_t>(left, 100))) <= 0) continue;
    if (fds[0].revents != 0)
      out_open = take(output.read.get(), answer.output, request.max_output, false, too_much);
    bool unused = false;
    if (fds[1].revents != 0) err_open = take(errors.read.get(), answer.errors, kMaxErrors, true, unused);
  }
  int status = 0;
  bool ended = false;
  // Its output may be closed before it ends.
  while (in_time && !too_much && !ended && Clock::now() < deadline) {
    const pid_t waited = ::waitpid(child, &status, WNOHANG);
    ended = waited == child || (waited < 0 && errno != EINTR);
    if (!ended) ::poll(nullptr, 0, 1);
  }
  if (!ended) {
    ::kill(-child, SIGKILL);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  const std::string& name = request.argv.front();
  if (stop.stop_requested()) return fail(ErrorCode::cancelled, "cancelled");
  if (too_much)
    return fail(ErrorCode::limit, fmt::format("{} said more than {} bytes", name, request.max_output));
  if (!ended)
    return fail(ErrorCode::limit, fmt::format("{} took longer than {} ms", name, request.timeout.count()));
  if (!WIFEXITED(status)) return fail(ErrorCode::io, name + " was ended by a signal");
  answer.exit_code = WEXITSTATUS(status);
  if (answer.exit_code == 127 && answer.output.empty()) return fail(ErrorCode::io, name + " did not start");
  return answer;
}

}  // namespace profd
