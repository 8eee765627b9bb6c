// The text of a file in the past, out of git.
#include "server/engine/committed_text.h"

#include <cstdlib>
#include <ctime>

#include <unistd.h>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::test;

namespace {

bool have_git() {
  return std::system("git --version >/dev/null 2>&1") == 0;
}

// At `time_s`, seconds since 1970, as author and committer.
void git(const TempFolder& folder, const std::string& command, std::int64_t time_s) {
  const std::string date = "@" + std::to_string(time_s) + " +0000";
  const std::string whole =
      "cd '" + folder.path.string() + "' && GIT_AUTHOR_DATE='" + date + "' GIT_COMMITTER_DATE='" + date +
      "' git -c user.name=t -c user.email=t@t -c init.defaultBranch=main " + command + " >/dev/null 2>&1";
  REQUIRE(std::system(whole.c_str()) == 0);
}

constexpr std::int64_t kFirst = 1'600'000'000, kSecond = 1'600'100'000;

}  // namespace

TEST_CASE("the text of a file is what was committed last before a time, else what came first") {
  if (!have_git()) return;
  const TempFolder folder;
  const std::string path = folder.file("src/a.c", "one\n");
  git(folder, "init", kFirst);
  git(folder, "add .", kFirst);
  git(folder, "commit -m one", kFirst);
  folder.file("src/a.c", "two\n");
  git(folder, "commit -am two", kSecond);
  const auto between = committed_text(path, kFirst + 1000, StopToken{});
  REQUIRE(between);
  CHECK(between->text == "one\n");
  CHECK(between->commit.size() >= 40);
  CHECK(committed_text(path, kSecond + 1000, StopToken{})->text == "two\n");
  CHECK(committed_text(path, kFirst - 1000, StopToken{})->text == "one\n");
  // What was checked out here at a time goes before the dates of commits.
  const std::int64_t before = std::time(nullptr);
  CHECK(committed_text(path, before + 1000, StopToken{})->text == "two\n");
}

TEST_CASE("a file that git does not know, or no repository at all, has no past") {
  const TempFolder folder;
  const std::string path = folder.file("a.c", "one\n");
  CHECK_FALSE(committed_text(path, kFirst, StopToken{}));
  if (!have_git()) return;
  git(folder, "init", kFirst);
  CHECK_FALSE(committed_text(path, kFirst, StopToken{}));
  folder.file("b.c", "two\n");
  git(folder, "add b.c", kFirst);
  git(folder, "commit -m b", kFirst);
  CHECK_FALSE(committed_text(path, kFirst, StopToken{}));
}

TEST_CASE("a repository of somebody else tells nothing") {
  if (!have_git() || ::geteuid() != 0) return;  // who may give files away
  const TempFolder folder;
  const std::string path = folder.file("a.c", "one\n");
  git(folder, "init", kFirst);
  git(folder, "add .", kFirst);
  git(folder, "commit -m one", kFirst);
  REQUIRE(committed_text(path, kFirst + 1000, StopToken{}));
  REQUIRE(std::system(("chown -R 65534 '" + folder.path.string() + "'").c_str()) == 0);
  CHECK_FALSE(committed_text(path, kFirst + 1000, StopToken{}));
}

TEST_CASE("nothing that a hostile repository configures is run") {
  if (!have_git()) return;
  const TempFolder folder;
  const std::string path = folder.file("a.c", "one\n");
  const std::string trace = (folder.path / "was-run").string();
  const std::string script = folder.file("evil.sh", "#!/bin/sh\ntouch '" + trace + "'\n");
  REQUIRE(std::system(("chmod +x '" + script + "'").c_str()) == 0);
  folder.file(".gitattributes", "*.c diff=evil filter=evil\n");
  git(folder, "init", kFirst);
  git(folder, "add a.c .gitattributes", kFirst);
  git(folder, "commit -m one", kFirst);
  for (const char* key : {"core.fsmonitor", "core.pager", "core.sshCommand", "core.gitProxy", "core.askPass",
                          "diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.smudge",
                          "filter.evil.clean", "filter.evil.process", "gpg.program", "core.editor",
                          "alias.rev-parse", "alias.cat-file", "remote.o.uploadpack"})
    git(folder, std::string("config ") + key + " '" + script + "'", kFirst);
  git(folder, "config log.showSignature true", kFirst);
  git(folder, "config remote.o.url '" + folder.path.string() + "'", kFirst);
  git(folder, "config remote.o.promisor true", kFirst);
  git(folder, "config extensions.partialClone o", kFirst);
  git(folder, "config core.repositoryformatversion 1", kFirst);
  // Objects that are missing would be fetched, by what the configuration says.
  REQUIRE(std::system(("find '" + folder.path.string() + "/.git/objects' -type f | while read f; do " +
                       "case $(cd '" + folder.path.string() +
                       "' && git -c core.fsmonitor= cat-file -t $(echo $f | sed 's|.*objects/||;s|/||') "
                       "2>/dev/null) in blob) rm -f $f;; esac; done")
                          .c_str()) == 0);
  std::filesystem::remove(trace);
  static_cast<void>(committed_text(path, kFirst + 1000, StopToken{}));
  CHECK_FALSE(std::filesystem::exists(trace));
}

TEST_CASE("git is not asked about a repository that has pipes or devices in its folder") {
  if (!have_git()) return;
  const TempFolder folder, programs;
  const std::string path = folder.file("a.c", "one\n"), asked = (programs.path / "asked").string();
  git(folder, "init", kFirst);
  git(folder, "add .", kFirst);
  git(folder, "commit -m one", kFirst);
  const char* const before = std::getenv("PATH");
  const std::string old_path = before == nullptr ? "" : before;
  programs.file("git", "#!/bin/sh\ntouch '" + asked + "'\nPATH='" + old_path + "' exec git \"$@\"\n");
  REQUIRE(std::system(("chmod +x '" + programs.path.string() + "/git'").c_str()) == 0);
  ::setenv("PATH", (programs.path.string() + ":" + old_path).c_str(), 1);
  const auto is_asked = [&] {
    std::filesystem::remove(asked);
    const bool known = committed_text(path, kFirst + 1000, StopToken{}).has_value();
    CHECK(known == std::filesystem::exists(asked));
    return known;
  };
  CHECK(is_asked());
  const std::filesystem::path own = folder.path / ".git";
  for (const char* name : {"HEAD", "config", "packed-refs", "commondir", "objects/info/alternates",
                           "refs/heads/x", "logs/HEAD", "objects/ab/pipe", "shallow", "index"}) {
    const std::filesystem::path at = own / name, aside = folder.path / "aside";
    const bool was_there = std::filesystem::exists(at);
    if (was_there) std::filesystem::rename(at, aside);
    std::filesystem::create_directories(at.parent_path());
    for (const std::string& make :
         {"mkfifo '" + at.string() + "'", "ln -s /dev/zero '" + at.string() + "'"}) {
      INFO(make);
      REQUIRE(std::system(make.c_str()) == 0);
      CHECK_FALSE(is_asked());
      std::filesystem::remove(at);
    }
    if (was_there) std::filesystem::rename(aside, at);
  }
  CHECK(is_asked());
  // The folder of another working tree, and what it names.
  const TempFolder tree;
  tree.file(".git", "gitdir: " + own.string() + "/worktrees/w\n");
  const std::string there = tree.file("a.c", "one\n");
  std::filesystem::create_directories(own / "worktrees/w");
  folder.file(".git/worktrees/w/commondir", "../..\n");
  folder.file(".git/worktrees/w/HEAD", "ref: refs/heads/main\n");
  CHECK(committed_text(there, kFirst + 1000, StopToken{}));
  REQUIRE(std::system(("mkfifo '" + (own / "refs/pipe").string() + "'").c_str()) == 0);
  CHECK_FALSE(committed_text(there, kFirst + 1000, StopToken{}));
  ::setenv("PATH", old_path.c_str(), 1);
}
