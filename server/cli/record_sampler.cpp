#include "server/cli/record_sampler.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/support/unique_fd.h"
#include "server/platform/child.h"

extern char** environ;

namespace profd {
namespace {

// For so long a program may be one that its sampler cannot read yet: an interpreter that begins.
constexpr std::chrono::seconds kBeginning{3};
// To write what was sampled.
constexpr std::chrono::seconds kWriting{20};
constexpr std::size_t kMostWords = 4096;

bool is_over(pid_t pid, int& status) {
  const pid_t waited = ::waitpid(pid, &status, WNOHANG);
  return waited == pid || (waited < 0 && errno != EINTR);
}

// Whether it has ended within that time.
bool ends_within(pid_t pid, std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  for (int status = 0; !is_over(pid, status);) {
    if (std::chrono::steady_clock::now() > end) return false;
    ::usleep(10'000);
  }
  return true;
}

}  // namespace

BesideSampler::BesideSampler(std::vector<std::string> argv, std::string log)
    : argv_(std::move(argv)), log_(std::move(log)), begin_(std::chrono::steady_clock::now()) {}

BesideSampler::~BesideSampler() {
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

Result<void> BesideSampler::start(pid_t program) {
  std::vector<std::string> words = argv_;
  std::replace(words.begin(), words.end(), std::string(kPidWord), std::to_string(program));
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const UniqueFd log(::open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!log.valid()) return fail(ErrorCode::io, fmt::format("{} cannot be written", log_));
  constexpr std::array kSamplerToDefault{SIGPIPE, SIGXFSZ, SIGINT, SIGTERM};
  Child child(kSamplerToDefault);
  child.give_nothing(STDIN_FILENO, O_RDONLY);
  child.give(log.get(), STDOUT_FILENO);
  child.give(log.get(), STDERR_FILENO);
  child.close_from(STDERR_FILENO + 1);
  PROFD_TRY(pid_, child.start(words.front(), pointers.data(), environ));
  return {};
}

Result<void> BesideSampler::look(pid_t program) {
  if (done_) return {};
  const auto now = std::chrono::steady_clock::now();
  if (pid_ >= 0) {
    int status = 0;
    if (!is_over(pid_, status)) return {};
    pid_ = -1;
    // It was done, or broke off with what it had: the program goes on.
    done_ = status == 0 || now - attached_ > kBeginning;
    if (done_) return {};
  }
  std::error_code error;
  const std::filesystem::path runs =
      std::filesystem::read_symlink(fmt::format("/proc/{}/exe", program), error);
  // Until it is another program than the one that starts it.
  if (!error && runs == std::filesystem::read_symlink("/proc/self/exe", error)) return {};
  if (now - begin_ < kBeginning) {
    attached_ = now;
    return start(program);
  }
  done_ = true;
  return fail(ErrorCode::io, last_words());
}

void BesideSampler::finish(const Patience& patience) {
  done_ = true;
  if (pid_ < 0) return;
  bool ended = ends_within(pid_, kWriting);
  for (const auto& [signal, time] :
       {std::pair{SIGINT, patience.after_interrupt}, {SIGTERM, patience.after_term}}) {
    if (ended) break;
    ::kill(-pid_, signal);
    ended = ends_within(pid_, time);
  }
  if (ended) pid_ = -1;
}

std::string BesideSampler::last_words() const {
  std::ifstream file(log_, std::ios::binary);
  std::string text(kMostWords, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (line.find_first_not_of(" \t\r") != line.npos) last = line;
  return last.empty() ? "it does not say why" : last;
}

}  // namespace profd
