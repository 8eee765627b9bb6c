#include "server/engine/project_file.h"

#include <algorithm>
#include <cstdlib>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;

TEST_CASE("a project file is read whole") {
  const auto project = parse_project_file(R"(
profiles = ["*.pprof", "/w/sub/**/x.pb.gz"]
metric = "cpu"
filters = ["drop function runtime.mcall"]
threshold = 0.01
code_lens = true
[[map]]
from = "/build/x"
to = "src"
)",
                                          "/w/.profd.toml");
  REQUIRE(project);
  CHECK(project->problems.empty());
  CHECK(project->profiles == std::vector<std::string>{"/w/*.pprof", "/w/sub/**/x.pb.gz"});
  CHECK(project->metric == "cpu");
  CHECK(project->threshold == 0.01);
  CHECK(project->code_lens == true);
  REQUIRE(project->filters.size() == 1);
  CHECK(project->filters[0].op == FilterOp::drop);
  REQUIRE(project->mappings.size() == 1);
  CHECK(project->mappings[0].to == "/w/src");
}

TEST_CASE("what is wrong in a project file is a problem with its line, and the rest holds") {
  const auto project = parse_project_file(
      "colour = 1\nthreshold = 7\nmetric = \"cpu\"\nfilters = [\"fly away\"]\n[[map]]\nfrom = 1\n",
      "/w/.profd.toml");
  REQUIRE(project);
  CHECK(project->problems.size() == 4);
  CHECK(project->problems[0].find("/w/.profd.toml:1") == 0);
  CHECK(project->metric == "cpu");
}

TEST_CASE("broken TOML is an error with line and column") {
  const auto project = parse_project_file("metric = \"a\nprofiles = [", "/w/.profd.toml");
  REQUIRE_FALSE(project);
  CHECK(project.error().message.find("/w/.profd.toml:1:") == 0);
  CHECK_FALSE(parse_project_file("a = " + std::string(20'000, '['), "/w/.profd.toml"));
}

TEST_CASE("a letter beyond ASCII is fine in a text and an error in a bare key") {
  CHECK(parse_project_file("# Größe, ų\nprofiles = [\"größe.pprof\"]\n", "/p/.profd.toml").has_value());
  for (const char* text : {"größe = 1\n", "ų = 1\n", "a = ų\n", "\u00a0a = 1\n\u0173\n"})
    CHECK(parse_project_file(text, "/p/.profd.toml").error().code == ErrorCode::malformed);
}

TEST_CASE("globs") {
  CHECK(glob_matches("/w/*.pprof", "/w/cpu.pprof"));
  CHECK_FALSE(glob_matches("/w/*.pprof", "/w/a/cpu.pprof"));
  CHECK(glob_matches("/w/**/*.pprof", "/w/a/b/cpu.pprof"));
  CHECK(glob_matches("/w/**/*.pprof", "/w/cpu.pprof"));
  CHECK(glob_matches("/w/c?u.pprof", "/w/cpu.pprof"));
  CHECK_FALSE(glob_matches("/w/c?u", "/w/c/u"));
  CHECK_FALSE(glob_matches("/w/*", "/v/x"));
  // Backtracking is bounded: this answers at once.
  CHECK_FALSE(glob_matches("/" + std::string(60, '*') + "b", "/" + std::string(5000, 'a')));
}

TEST_CASE("a glob is decided in one folder, in all below a deep one, or above one that is missing") {
  char pattern[] = "/tmp/profd-test-XXXXXX";
  const std::string root = ::mkdtemp(pattern);
  REQUIRE(std::system(("mkdir -p " + root + "/a/b " + root + "/.git/c").c_str()) == 0);
  CHECK(glob_folders(root + "/*.pprof", 10) == std::vector<std::string>{root});
  CHECK(glob_folders(root + "/cpu.pprof", 10) == std::vector<std::string>{root});
  auto deep = glob_folders(root + "/**/*.pprof", 10);
  std::sort(deep.begin(), deep.end());
  CHECK(deep == std::vector<std::string>{root, root + "/a", root + "/a/b"});
  CHECK(glob_folders(root + "/**/*.pprof", 2).size() == 2);
  CHECK(glob_folders(root + "/none/yet/**/*.pprof", 10) == std::vector<std::string>{root});
  CHECK(std::system(("rm -rf " + root).c_str()) == 0);
}

TEST_CASE(
    "files that globs match are newest first after those named, and those beyond the limit are counted") {
  const test::TempFolder folder;
  const std::string root = folder.path.string();
  const auto aged = [&](const std::string& name, int hours) {
    const std::string path = folder.file(name, "x");
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
    return path;
  };
  const std::string old = aged("a.pprof", 9), middle = aged("b/c.pprof", 5), fresh = aged("d.pprof", 1);
  const GlobMatches all = expand_globs({root + "/**/*.pprof", root + "/*.pprof"}, 10);
  CHECK(all.paths == std::vector<std::string>{fresh, middle, old});
  CHECK(all.n_left_out == 0);
  CHECK(all.complete);
  const GlobMatches few = expand_globs({root + "/**/*.pprof", old, root + "/none.pprof", root + "/no/*"}, 2);
  CHECK(few.paths == std::vector<std::string>{old, fresh});
  CHECK(few.n_left_out == 1);
  CHECK(few.complete);
}
