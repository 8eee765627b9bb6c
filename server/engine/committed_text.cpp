#include "server/engine/committed_text.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "server/engine/source_text.h"
#include "server/platform/run.h"

namespace profd {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxText = std::size_t{4} << 20;
constexpr std::uint64_t kMaxMemory = std::uint64_t{128} << 20;
constexpr std::chrono::milliseconds kTime{2000};  // for all questions about a file
constexpr std::size_t kMaxEntries = 50'000;       // of a repository's own folder that are looked at

// Opening a pipe waits for who writes into it, and reading a device may not end: git is not asked where its
// folder has what is neither file nor folder, by a link or not. What is elsewhere (alternates) is bounded by
// the time and the memory that git has.
bool is_plain(const fs::path& folder) {
  std::error_code error;
  std::size_t n_entries = 0;
  fs::recursive_directory_iterator it(folder, error);
  for (const auto end = fs::recursive_directory_iterator(); !error && it != end; it.increment(error)) {
    if (++n_entries > kMaxEntries) return true;
    std::error_code ignored;
    const fs::file_status status = it->status(ignored);
    // A link that leads nowhere is as if it were not there.
    if (!fs::is_regular_file(status) && !fs::is_directory(status) && fs::exists(status)) return false;
  }
  return true;
}

// The folder that git keeps for a file, and the one that it shares with other working trees; none where git
// would find none. Both are named by files, which may name anything.
std::vector<fs::path> git_folders(const fs::path& file) {
  const auto named_in = [](const fs::path& where, std::string_view begin) -> fs::path {
    constexpr std::size_t kMaxName = 4096;
    std::error_code error;
    if (!fs::is_regular_file(where, error) || fs::file_size(where, error) > kMaxName) return {};
    auto text = read_source(where.string()).value_or("");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (!text.starts_with(begin)) return {};
    return (where.parent_path() / text.substr(begin.size())).lexically_normal();
  };
  for (fs::path at = file.parent_path(); at.has_relative_path(); at = at.parent_path()) {
    std::error_code error;
    fs::path found = at / ".git";
    if (!fs::exists(fs::symlink_status(found, error))) continue;
    if (!fs::is_directory(found, error)) found = named_in(found, "gitdir: ");
    if (found.empty()) return {at / ".git"};
    std::vector<fs::path> folders = {found};
    if (fs::path common = named_in(found / "commondir", ""); !common.empty())
      folders.push_back(std::move(common));
    return folders;
  }
  return {};
}

bool may_be_asked(const std::string& path) {
  for (const fs::path& folder : git_folders(path)) {
    std::error_code error;
    if (!fs::is_directory(folder, error) || !is_plain(folder)) return false;
  }
  return true;
}

class Git {
 public:
  Git(const std::string& path, const StopToken& stop) : path_(path), stop_(stop) {}

  // Standard output, where git is content; "" else.
  [[nodiscard]] std::string ask(std::vector<std::string> arguments, bool quiet_only = false) const {
    RunRequest request;
    request.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - Clock::now());
    if (request.timeout.count() <= 0) return "";
    request.argv = {"git", "-C", path_.parent_path().string(),
                    // A repository may be hostile: what its configuration could start is switched off.
                    "-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never",
                    // Within its memory: packs are mapped, large objects go through.
                    "-c", "core.packedGitWindowSize=16m", "-c", "core.packedGitLimit=64m", "-c",
                    "core.deltaBaseCacheLimit=16m", "-c", "core.bigFileThreshold=8m", "--no-optional-locks",
                    "--no-pager", "--literal-pathspecs", "--no-replace-objects"};
    request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
    // GIT_DIR and the like are of whoever started the daemon, and of no file here.
    request.without_prefix = "GIT_";
    request.environment = {{"GIT_ALLOW_PROTOCOL", "none"}, {"GIT_NO_LAZY_FETCH", "1"},
                           {"GIT_TERMINAL_PROMPT", "0"},   {"GIT_ASKPASS", "true"},
                           {"GIT_OPTIONAL_LOCKS", "0"},    {"LC_ALL", "C"}};
    request.max_output = kMaxText;
    request.max_memory = kMaxMemory;
    request.max_cpu_s = 2;
    request.max_files = 256;
    request.may_write = false;
    auto answer = run_program(request, stop_);
    if (!answer || answer->exit_code != 0) return "";
    if (quiet_only && !answer->errors.empty()) return "";
    return std::move(answer->output);
  }

  // A commit of at least 40 hexadecimal digits, from the last line of `output`; "" when it is none.
  static std::string commit_in(std::string output) {
    while (!output.empty() && output.back() == '\n') output.pop_back();
    if (const auto line = output.rfind('\n'); line != output.npos) output.erase(0, line + 1);
    const bool good = output.size() >= 40 && output.find_first_not_of("0123456789abcdef") == output.npos;
    return good ? output : "";
  }

  [[nodiscard]] std::optional<CommittedText> text_in(const std::string& commit) const {
    if (commit.empty()) return std::nullopt;
    const std::string object = commit + ":./" + path_.filename().string();
    if (ask({"cat-file", "-t", object}) != "blob\n") return std::nullopt;
    return CommittedText{commit, ask({"cat-file", "blob", object})};
  }

 private:
  using Clock = std::chrono::steady_clock;

  fs::path path_;
  const StopToken& stop_;
  Clock::time_point until_ = Clock::now() + kTime;
};

}  // namespace

std::optional<CommittedText> committed_text(const std::string& path, std::int64_t time_s,
                                            const StopToken& stop) {
  if (!may_be_asked(path)) return std::nullopt;
  const Git git(path, stop);
  const std::string head = Git::commit_in(git.ask({"rev-parse", "--verify", "--quiet", "HEAD^{commit}"}));
  if (head.empty()) return std::nullopt;
  const std::string name = "./" + std::filesystem::path(path).filename().string();
  // What was checked out here then. Git warns where its log does not go back so far.
  const std::string checked_out =
      Git::commit_in(git.ask({"rev-parse", "--verify", fmt::format("HEAD@{{{}}}", time_s)}, true));
  if (auto text = git.text_in(checked_out)) return text;
  const std::string before =
      Git::commit_in(git.ask({"rev-list", "-1", fmt::format("--before={}", time_s), head, "--", name}));
  if (auto text = git.text_in(before)) return text;
  return git.text_in(
      Git::commit_in(git.ask({"rev-list", fmt::format("--after={}", time_s), head, "--", name})));
}

}  // namespace profd
