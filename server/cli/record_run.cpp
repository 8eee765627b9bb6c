#include "server/cli/record_run.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include <sys/wait.h>
#include <unistd.h>

#include "server/platform/child.h"

extern char** environ;

namespace profd {
namespace {

using RunClock = std::chrono::steady_clock;

// As `nohup` has it; a signal that waits would come nonetheless.
bool is_ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

// Signals wait until they are asked for.
class SignalsAwaited {
 public:
  SignalsAwaited() {
    sigset_t blocked;
    sigemptyset(&awaited_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
      if (!is_ignored(signal)) sigaddset(&awaited_, signal);
    blocked = awaited_;
    sigaddset(&blocked, SIGTTOU);  // for taking the terminal back
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~SignalsAwaited() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsAwaited(const SignalsAwaited&) = delete;
  SignalsAwaited& operator=(const SignalsAwaited&) = delete;
  // The next one, or 0 when none came within that time.
  [[nodiscard]] int next(std::chrono::milliseconds time) const {
    const timespec wait{time.count() / 1000, (time.count() % 1000) * 1'000'000};
    return std::max(0, ::sigtimedwait(&awaited_, nullptr, &wait));
  }

 private:
  sigset_t awaited_{}, before_{};
};

// Lends the terminal to a process group, where this process has it.
class TerminalLent {
 public:
  explicit TerminalLent(pid_t group) : group_(group) {
    lent_ = ::isatty(0) == 1 && ::tcgetpgrp(0) == ::getpgrp();
    lend();
  }
  ~TerminalLent() { take_back(); }
  TerminalLent(const TerminalLent&) = delete;
  TerminalLent& operator=(const TerminalLent&) = delete;

  // The job was stopped by the terminal: so is this process, until the shell has both go on.
  void stop_too() const {
    if (!lent_) return;
    take_back();
    ::raise(SIGSTOP);
    lend();
  }

 private:
  // It may have asked for the terminal before, and been stopped. In the background it goes on without.
  void lend() const {
    if (!lent_) return;
    if (::tcgetpgrp(0) == ::getpgrp()) ::tcsetpgrp(0, group_);
    ::kill(-group_, SIGCONT);
  }
  void take_back() const {
    if (lent_ && ::tcgetpgrp(0) == group_) ::tcsetpgrp(0, ::getpgrp());
  }

  pid_t group_;
  bool lent_ = false;
};

// As long as a sampler may still have to be started.
constexpr double kSamplerBegins_s = 5;

double seconds_since(RunClock::time_point begin) {
  return std::chrono::duration<double>(RunClock::now() - begin).count();
}

// Ends what is left of a group whose first process has ended.
void end_rest(pid_t group) {
  if (::kill(-group, SIGTERM) != 0) return;
  for (int tries = 0; tries < 50 && ::kill(-group, 0) == 0; ++tries) ::usleep(10'000);
  ::kill(-group, SIGKILL);
}

}  // namespace

Result<TerminalRun> run_in_terminal(const std::vector<std::string>& argv, const TerminalHow& how) {
  const SignalsAwaited signals;
  std::vector<std::string> words = argv;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  constexpr std::array kToDefault{SIGPIPE, SIGXFSZ};
  Child child(kToDefault);
  const auto begin = RunClock::now();
  PROFD_TRY(const pid_t pid, child.start(words.front(), pointers.data(), environ));
  TerminalRun out;
  int status = 0;
  {
    const TerminalLent terminal(pid);
    constexpr std::array kSteps{SIGINT, SIGTERM, SIGKILL};
    std::size_t steps = 0;
    std::optional<RunClock::time_point> next_step;
    double next_tick = 0;
    while (true) {
      const pid_t waited = ::waitpid(pid, &status, WNOHANG | WUNTRACED);
      if (waited == pid && WIFSTOPPED(status)) {
        terminal.stop_too();
        continue;
      }
      if (waited == pid || (waited < 0 && errno != EINTR)) break;
      const double seconds = seconds_since(begin);
      const bool sampler_begins = how.beside != nullptr && seconds < kSamplerBegins_s;
      // A signal of a child that comes between the two is not lost: it waits.
      const int signal = signals.next(std::chrono::milliseconds(next_step || sampler_begins ? 50 : 1000));
      bool told = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
      if (how.beside != nullptr && out.sampler_failure.empty())
        if (const auto samples = how.beside->look(pid); !samples) {
          // There is nothing left to record.
          out.sampler_failure = samples.error().message;
          told = true;
        }
      if (how.tick && seconds >= next_tick) {
        how.tick(seconds);
        next_tick = seconds + 1;
      }
      if (!told && !(next_step && RunClock::now() >= *next_step)) continue;
      if (steps == kSteps.size()) continue;
      out.interrupted = true;
      ::kill(-pid, kSteps[steps]);
      next_step = RunClock::now() + (steps == 0 ? how.patience.after_interrupt : how.patience.after_term);
      ++steps;
    }
  }
  out.seconds = seconds_since(begin);
  if (how.beside != nullptr) how.beside->finish(how.patience);
  end_rest(pid);
  if (WIFSIGNALED(status)) {
    out.exit_code = 128 + WTERMSIG(status);
    out.interrupted = out.interrupted || WTERMSIG(status) == SIGINT;
  } else {
    out.exit_code = WEXITSTATUS(status);
    out.interrupted = out.interrupted || out.exit_code == 128 + SIGINT;
  }
  return out;
}

double wait_in_terminal(pid_t process, const std::optional<double>& seconds,
                        const std::function<void(double seconds)>& tick) {
  const SignalsAwaited signals;
  const auto begin = RunClock::now();
  while (true) {
    const double so_far = seconds_since(begin);
    if ((seconds && so_far >= *seconds) || (::kill(process, 0) != 0 && errno == ESRCH)) return so_far;
    if (tick) tick(so_far);
    const int signal = signals.next(std::chrono::milliseconds(200));
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) return seconds_since(begin);
  }
}

}  // namespace profd
