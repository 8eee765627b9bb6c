#include "server/proxy/wrapped_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include "server/platform/child.h"

extern char** environ;

namespace profd {
namespace {

Result<std::array<UniqueFd, 2>> pipe_of_child() {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return fail(ErrorCode::io, fmt::format("no pipe: {}", std::strerror(errno)));
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  return std::array<UniqueFd, 2>{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

Result<WrappedProcess> start_wrapped(const std::vector<std::string>& argv) {
  PROFD_TRY(auto to_it, pipe_of_child());
  PROFD_TRY(auto from_it, pipe_of_child());
  std::vector<std::string> words = argv;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  constexpr std::array kToDefault{SIGPIPE, SIGXFSZ};
  Child child(kToDefault);
  child.give(to_it[0].get(), 0);
  child.give(from_it[1].get(), 1);
  child.close_from(3);
  WrappedProcess out;
  PROFD_TRY(out.pid, child.start(words.front(), pointers.data(), environ));
  out.in = std::move(to_it[1]);
  out.out = std::move(from_it[0]);
  return out;
}

Ending ending_of(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return {128 + signal, fmt::format("was ended by signal {} ({})", signal, ::strsignal(signal))};
  }
  return {WEXITSTATUS(status), fmt::format("ended with code {}", WEXITSTATUS(status))};
}

void when_ended(pid_t pid, std::function<void()> on_end) {
  std::thread([pid, on_end = std::move(on_end)] {
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    on_end();
  }).detach();
}

}  // namespace profd
