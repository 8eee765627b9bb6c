#include "server/engine/project_file.h"

#include <algorithm>
#include <cstdlib>

#include "server/engine/glob.h"
#include "server/engine/project_globs.h"
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
  CHECK(project->settings.profiles == std::vector<std::string>{"/w/*.pprof", "/w/sub/**/x.pb.gz"});
  CHECK(project->settings.metric == "cpu");
  CHECK(project->settings.threshold == 0.01);
  CHECK(project->settings.code_lens == true);
  REQUIRE(project->settings.filters.size() == 1);
  CHECK(project->settings.filters[0].op == FilterOp::drop);
  REQUIRE(project->settings.mappings.size() == 1);
  CHECK(project->settings.mappings[0].to == "/w/src");
}

TEST_CASE("what is wrong in a project file is a problem with its line, and the rest holds") {
  const auto project = parse_project_file(
      "colour = 1\nthreshold = 7\nmetric = \"cpu\"\nfilters = [\"fly away\"]\n[[map]]\nfrom = 1\n",
      "/w/.profd.toml");
  REQUIRE(project);
  CHECK(project->problems.size() == 4);
  CHECK(project->problems[0].find("/w/.profd.toml:1") == 0);
  CHECK(project->settings.metric == "cpu");
}

TEST_CASE("a project file defines metrics by formula, and what is no formula is told with its place") {
  const auto project = parse_project_file(R"([derive]
bad = "cycles / (instructions"
cpi = "cycles / instructions"
mpki = { formula = "1000 * \"cache-misses\" / instructions", unit = "misses/kinst" }
number = 3
)",
                                          "/w/.profd.toml");
  REQUIRE(project);
  CHECK(project->settings.derived ==
        std::vector<DerivedMetric>{{"cpi", "cycles / instructions", ""},
                                   {"mpki", "1000 * \"cache-misses\" / instructions", "misses/kinst"}});
  CHECK(project->problems ==
        std::vector<std::string>{
            "/w/.profd.toml:2: derive bad: the bracket is not closed at character 10 of the formula",
            "/w/.profd.toml:5: derive number: a formula as text, or a table of `formula` and `unit`"});
}

TEST_CASE("the gate's rules stand in a table of the project file") {
  const auto project = parse_project_file(R"(
[gate]
rules = ["total(main.*) < +5%", "each self(/^x/) < +20ms"]
metric = "cpu"
undecided = "fail"
allow_empty = true
)",
                                          "/w/.profd.toml");
  REQUIRE(project);
  CHECK(project->problems.empty());
  REQUIRE(project->settings.gate_rules.size() == 2);
  CHECK(to_text(project->settings.gate_rules[1]) == "each self(/^x/) < +20ms");
  CHECK(project->settings.gate_metric == "cpu");
  CHECK(project->settings.gate_undecided_fails == true);
  CHECK(project->settings.gate_allow_empty == true);
  CHECK_FALSE(project->settings.metric);
}

TEST_CASE("a rule that cannot be read is a problem with its line and place, and so is what else is wrong") {
  const auto project = parse_project_file(R"([gate]
rules = [
  "total(main.*) < 5",
  7,
  "new < 1%",
]
undecided = "maybe"
limit = 3
)",
                                          "/w/.profd.toml");
  REQUIRE(project);
  CHECK(project->settings.gate_rules.size() == 1);
  CHECK_FALSE(project->settings.gate_undecided_fails);
  REQUIRE(project->problems.size() == 4);
  CHECK(project->problems[0] == "/w/.profd.toml:8: gate.limit is not a setting of profd");
  CHECK(project->problems[1].find("/w/.profd.toml:3: gate.rules \"total(main.*) < 5\": rule: ") == 0);
  CHECK(project->problems[1].find("(at character 17)") != std::string::npos);
  CHECK(project->problems[2] == "/w/.profd.toml:4: gate.rules must be a text");
  CHECK(project->problems[3] == "/w/.profd.toml:7: gate.undecided must be \"pass\" or \"fail\"");
  CHECK(parse_project_file("gate = 1\n", "/w/.profd.toml")->problems ==
        std::vector<std::string>{"/w/.profd.toml:1: gate must be a table: [gate]"});
  CHECK(parse_project_file("\"gate.rules\" = \"new < 1%\"\n", "/w/.profd.toml")->problems ==
        std::vector<std::string>{"/w/.profd.toml:1: gate.rules is not a setting of profd"});
}

TEST_CASE("however much is wrong in a project file, it is said in few words, and counted") {
  std::string keys, maps;
  for (int i = 0; i < 60'000; ++i) keys += "k" + std::to_string(i) + " = 1\n";
  const auto unknown = parse_project_file(keys + "metric = \"cpu\"\n", "/w/.profd.toml");
  REQUIRE(unknown);
  REQUIRE(unknown->problems.size() == 1);
  CHECK(unknown->problems[0].find("60000 keys are not settings of profd: k0, k1, k10, k100, k1000, …") !=
        std::string::npos);
  CHECK(unknown->settings.metric == "cpu");
  for (int i = 0; i < 3'000; ++i) maps += "[[map]]\nfrom = 1\n";
  const auto wrong = parse_project_file(maps, "/w/.profd.toml");
  REQUIRE(wrong);
  REQUIRE(wrong->problems.size() == 20);
  CHECK(wrong->problems[19] == "/w/.profd.toml: 2981 more of its settings are not used");
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

namespace {

GlobMatches matched(const std::vector<std::string>& globs, const GlobLimits& limits = {}) {
  return match_globs(globs, limits, StopToken{});
}

std::vector<std::string> folders_of(const GlobMatches& found) {
  std::vector<std::string> folders;
  for (const GlobMatches::WatchedFolder& folder : found.folders) folders.push_back(folder.path);
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<std::string> folders_of(const std::string& glob) {
  return folders_of(matched({glob}));
}

}  // namespace

TEST_CASE("a glob is decided in one folder, in all below a deep one, or above one that is missing") {
  const test::TempFolder folder;
  const std::string root = folder.path.string();
  folder.file("a/b/x", "");
  folder.file(".git/c/x", "");
  CHECK(folders_of(root + "/*.pprof") == std::vector<std::string>{root});
  CHECK(folders_of(root + "/cpu.pprof") == std::vector<std::string>{root});
  CHECK(folders_of(root + "/**/*.pprof") == std::vector<std::string>{root, root + "/a", root + "/a/b"});
  CHECK(folders_of(root + "/none/yet/**/*.pprof") == std::vector<std::string>{root});
}

TEST_CASE(
    "files that globs match are in the order of the globs, newest first, and those beyond the limit are "
    "counted") {
  const test::TempFolder folder;
  const std::string root = folder.path.string();
  const auto aged = [&](const std::string& name, int hours) {
    const std::string path = folder.file(name, "x");
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
    return path;
  };
  const std::string old = aged("a.pprof", 9), middle = aged("b/c.pprof", 5), fresh = aged("d.pprof", 1);
  const GlobMatches all = matched({root + "/**/*.pprof", root + "/*.pprof"});
  CHECK(all.paths == std::vector<std::string>{fresh, middle, old});
  CHECK(all.n_left_out == 0);
  CHECK(all.cut.empty());
  CHECK(matched({old, root + "/*.pprof"}).paths == std::vector<std::string>{old, fresh});
  CHECK(matched({root + "/b/*.pprof", old, root + "/*.pprof"}).paths ==
        std::vector<std::string>{middle, old, fresh});
  CHECK(matched({root + "/*.pprof", middle}).paths == std::vector<std::string>{fresh, old, middle});
  GlobLimits two;
  two.max_files = 2;
  const GlobMatches few = matched({root + "/**/*.pprof", old, root + "/none.pprof", root + "/no/*"}, two);
  CHECK(few.paths == std::vector<std::string>{fresh, old});
  CHECK(few.n_left_out == 1);
  CHECK(few.cut == std::vector<std::string>{"matches 3 files; the 2 newest are loaded, 1 are left out"});
}

TEST_CASE("what globs reach and is not looked at is said, for every limit") {
  const test::TempFolder folder;
  const std::string root = folder.path.string();
  for (int i = 0; i < 8; ++i) folder.file("d" + std::to_string(i) + "/x/y/a.pprof", "");
  const std::string deep = root + "/**/*.pprof";
  const auto cut = [&](const std::vector<std::string>& globs, auto set) {
    GlobLimits limits;
    set(limits);
    const GlobMatches found = matched(globs, limits);
    return found.cut.empty() ? "" : found.cut.front();
  };
  CHECK(cut({deep, deep}, [](GlobLimits& l) { l.max_globs = 1; }) ==
        "has 2 patterns; the first 1 are looked for");
  CHECK(cut({root + "/" + std::string(1024, '*'), deep}, [](GlobLimits&) {}) ==
        "has patterns of more than 1024 bytes, of which 1 are not looked for");
  CHECK(cut({deep}, [](GlobLimits& l) { l.max_entries = 5; }) ==
        "reaches into more than the 5 files and folders that are looked at; there may be profiles that are "
        "not loaded");
  CHECK(cut({deep}, [](GlobLimits& l) { l.max_depth = 2; }) ==
        "reaches deeper than the 2 folders that are gone into; there may be profiles that are not loaded");
  CHECK(cut({deep}, [](GlobLimits& l) { l.max_time = std::chrono::milliseconds(-1); }) ==
        "takes longer than the -1 ms that are spent on it; there may be profiles that are not loaded");
  CHECK(cut({deep}, [](GlobLimits& l) { l.max_folders = 3; }) ==
        "reaches into more than 3 folders; new profiles in the rest are not noticed");
  CHECK(cut({deep}, [](GlobLimits&) {}).empty());
  StopSource stop;
  stop.request_stop();
  CHECK(match_globs({deep}, {}, StopToken(stop)).paths.empty());
}

TEST_CASE("a pattern over everything does not take what closer ones are for") {
  const test::TempFolder folder;
  const std::string root = folder.path.string();
  for (int i = 0; i < 50; ++i) folder.file("many/f" + std::to_string(i), "");
  const std::string wanted = folder.file("few/a.pprof", "");
  GlobLimits limits;
  limits.max_entries = 30;
  CHECK(matched({root + "/**/*.prof", root + "/few/*.pprof"}, limits).paths ==
        std::vector<std::string>{wanted});
}
