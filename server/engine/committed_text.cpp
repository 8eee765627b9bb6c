#include "server/engine/committed_text.h"

#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "server/platform/run.h"

namespace profd {
namespace {

constexpr std::size_t kMaxText = std::size_t{4} << 20;

class Git {
 public:
  Git(const std::string& path, const StopToken& stop) : path_(path), stop_(stop) {}

  // Standard output, where git is content; "" else.
  [[nodiscard]] std::string ask(std::vector<std::string> arguments, bool quiet_only = false) const {
    RunRequest request;
    request.argv = {"git", "-C", path_.parent_path().string(),
                    // A repository may be hostile: what its configuration could start is switched off.
                    "-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never",
                    "--no-optional-locks", "--no-pager", "--literal-pathspecs", "--no-replace-objects"};
    request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
    // GIT_DIR and the like are of whoever started the daemon, and of no file here.
    request.without_prefix = "GIT_";
    request.environment = {{"GIT_ALLOW_PROTOCOL", "none"}, {"GIT_NO_LAZY_FETCH", "1"},
                           {"GIT_TERMINAL_PROMPT", "0"},   {"GIT_ASKPASS", "true"},
                           {"GIT_OPTIONAL_LOCKS", "0"},    {"LC_ALL", "C"}};
    request.max_output = kMaxText;
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
  std::filesystem::path path_;
  const StopToken& stop_;
};

}  // namespace

std::optional<CommittedText> committed_text(const std::string& path, std::int64_t time_s,
                                            const StopToken& stop) {
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
