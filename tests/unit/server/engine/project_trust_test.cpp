#include "server/engine/project_trust.h"

#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "server/engine/project_file.h"
#include "tests/support/catch.h"
#include "tests/support/not_run.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::test;
namespace fs = std::filesystem;

namespace {

bool mentions(const std::vector<std::string>& problems, std::string_view part) {
  return std::any_of(problems.begin(), problems.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("the nearest project file is found upward") {
  const TempFolder folder;
  const std::string above = folder.file(".profd.toml", "");
  folder.file("a/b/c/x", "");
  CHECK(find_project_file((folder.path / "a/b/c").string()).path == above);
  const std::string nearer = folder.file("a/.profd.toml", "");
  const FoundProjectFile found = find_project_file((folder.path / "a/b/c").string());
  CHECK(found.path == nearer);
  CHECK(found.problems.empty());
}

TEST_CASE("a project file where others can write is not taken, and nothing is looked for above") {
  const TempFolder folder;
  folder.file(".profd.toml", "");
  folder.file("shared/.profd.toml", "");
  folder.file("shared/mine/x", "");
  for (const mode_t mode : {0777, 01777, 0772}) {
    REQUIRE(::chmod((folder.path / "shared").c_str(), mode) == 0);
    const FoundProjectFile found = find_project_file((folder.path / "shared/mine").string());
    CHECK(found.path.empty());
    CHECK(mentions(found.problems, "is not used: its folder can be written to by everybody"));
  }
  REQUIRE(::chmod((folder.path / "shared").c_str(), 0755) == 0);
  CHECK_FALSE(find_project_file((folder.path / "shared/mine").string()).path.empty());
  // A folder of others without such a file is nothing to talk about.
  fs::remove(folder.path / "shared/.profd.toml");
  REQUIRE(::chmod((folder.path / "shared").c_str(), 01777) == 0);
  const FoundProjectFile none = find_project_file((folder.path / "shared/mine").string());
  CHECK(none.path.empty());
  CHECK(none.problems.empty());
}

TEST_CASE("a folder or a project file of another user is not taken") {
  if (::geteuid() != 0) return not_run("needs root to make files of another user");
  const TempFolder folder;
  const std::string theirs = folder.file("theirs/.profd.toml", "");
  REQUIRE(::chown((folder.path / "theirs").c_str(), 12345, 12345) == 0);
  const FoundProjectFile found = find_project_file((folder.path / "theirs").string());
  CHECK(found.path.empty());
  CHECK(mentions(found.problems, "belongs to user 12345"));
  const std::string file = folder.file("ours/.profd.toml", "");
  REQUIRE(::chown(file.c_str(), 12345, 12345) == 0);
  const auto text = read_project_text(file, 1000);
  REQUIRE_FALSE(text);
  CHECK(text.error().message.find("belongs to user 12345") != std::string::npos);
}

TEST_CASE("a project file that others can write to, a large one, or one outside by a link is not read") {
  const TempFolder folder;
  const std::string file = folder.file("p/.profd.toml", "metric = \"cpu\"");
  CHECK(read_project_text(file, 1000) == "metric = \"cpu\"");
  CHECK(read_project_text(file, 5).error().code == ErrorCode::limit);
  REQUIRE(::chmod(file.c_str(), 0666) == 0);
  CHECK(read_project_text(file, 1000).error().message.find("by everybody") != std::string::npos);
  fs::remove(file);
  folder.file("elsewhere.toml", "");
  fs::create_symlink("../elsewhere.toml", file);
  CHECK(read_project_text(file, 1000).error().message.find("leads out of its folder") != std::string::npos);
  fs::remove(file);
  folder.file("p/conf/real.toml", "code_lens = true");
  fs::create_symlink("conf/real.toml", file);
  CHECK(read_project_text(file, 1000) == "code_lens = true");
}

TEST_CASE("what lies inside is told by the text of a path, or with its links followed") {
  CHECK(lies_inside("/w", "/w"));
  CHECK(lies_inside("/w", "/w/a/../b/*.x"));
  CHECK_FALSE(lies_inside("/w", "/w/a/../../v"));
  CHECK_FALSE(lies_inside("/w", "/wa"));
  CHECK_FALSE(lies_inside("/w/a", "/w"));
  const TempFolder folder;
  const std::string root = (folder.path / "root").string();
  folder.file("root/in/x", "");
  folder.file("out/x", "");
  fs::create_symlink("in", root + "/link-in");
  fs::create_symlink("../out", root + "/link-out");
  fs::create_symlink("loop", root + "/loop");
  CHECK(really_inside(root, root + "/link-in/x"));
  CHECK(really_inside(root, root + "/not/there/yet"));
  CHECK_FALSE(really_inside(root, root + "/link-out/x"));
  CHECK_FALSE(really_inside(root, root + "/link-out"));
  CHECK_FALSE(really_inside(root, root + "/loop"));
}

TEST_CASE("matches that are links out of the project, or no files, are taken out") {
  const TempFolder folder;
  const std::string root = (folder.path / "root").string();
  const std::string good = folder.file("root/a.folded", "");
  const std::string secret = folder.file("secret", "");
  fs::create_symlink(secret, root + "/b.folded");
  fs::create_symlink("a.folded", root + "/c.folded");
  fs::create_symlink("/dev/zero", root + "/d.folded");
  std::vector<std::string> paths = {good, root + "/b.folded", root + "/c.folded", root + "/d.folded"};
  CHECK(take_out_outside(root, paths) == std::vector<std::string>{root + "/b.folded", root + "/d.folded"});
  CHECK(paths == std::vector<std::string>{good, root + "/c.folded"});
}

TEST_CASE("patterns and maps of a project file that lead out of its folder are left out, and said") {
  const TempFolder folder;
  folder.file("root/src/x", "");
  folder.file("out/x", "");
  fs::create_symlink("../out", folder.path / "root/link");
  const std::string path = folder.file("root/.profd.toml", R"(
profiles = ["/etc/*", "../out/*", "a/../../out/x", "link/*.pprof", "**/*.pprof"]
[[map]]
from = "/a"
to = "/"
[[map]]
from = "/b"
to = ".."
[[map]]
from = "/c"
to = "link"
[[map]]
from = "/d"
to = "src"
)");
  const auto project = read_project_file(path);
  REQUIRE(project);
  const std::string root = (folder.path / "root").string();
  CHECK(project->settings.profiles == std::vector<std::string>{root + "/**/*.pprof"});
  REQUIRE(project->settings.mappings.size() == 1);
  CHECK(project->settings.mappings[0].to == root + "/src");
  CHECK(project->problems.size() == 7);
  CHECK(mentions(project->problems, "\"/etc/*\" leads out of the folder of the project file"));
  CHECK(mentions(project->problems, "link"));
}

TEST_CASE("a filter of a project file whose expression is bad is said and left out") {
  const auto project =
      parse_project_file("filters = [\"hide function /a(/\", \"hide function b\"]\n", "/w/.profd.toml");
  REQUIRE(project);
  CHECK(project->settings.filters.size() == 1);
  REQUIRE(project->problems.size() == 1);
  CHECK(project->problems[0].find("/a(/") != std::string::npos);
}
