// Which workspace file a path of a profile means, and how much speaks for it.
#include "server/engine/source_map.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "core/source/annotations.h"
#include "core/view/selection.h"
#include "core/view/spec.h"
#include "formats/open.h"
#include "server/engine/workspace_files.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

WorkspaceSnapshot workspace_of(const std::string& root) {
  WorkspaceSnapshot workspace;
  workspace.key = root;
  workspace.files = index_workspace({root}, 1, StopToken{}, 1 << 20);
  return workspace;
}

std::shared_ptr<const SourceMap> map_of(const TempFolder& folder, const std::string& text) {
  auto map =
      make_source_map(profile_from_text(text), workspace_of((folder.path / "w").string()), StopToken{});
  REQUIRE(map);
  return *map;
}

Doubt lookalike_doubt(const SourceMap& map, const std::string& path) {
  const auto found = map.lookalikes.find(path);
  return found == map.lookalikes.end() ? Doubt::none : found->second.front().doubt;
}

const std::string kGoProgram = "package main\n\nfunc main() {\n\tserve()\n}\n\nfunc serve() {\n}\n";

}  // namespace

TEST_CASE("a file that shares no more than its name is not meant when the profile's own path is there") {
  const TempFolder folder;
  const std::string here = folder.file("w/main.go", kGoProgram);
  const std::string other = folder.file("elsewhere/main.go", "package main\n\nfunc main() {\n}\n");
  const auto map = map_of(folder, "main.main[" + other + ":4 start=3] 5\n");
  CHECK(map->file_of(other) == nullptr);
  CHECK(map->by_path.empty());
  CHECK(lookalike_doubt(*map, here) == Doubt::other_file);
}

TEST_CASE("a file of the same text elsewhere is no other file") {
  const TempFolder folder;
  const std::string here = folder.file("w/main.go", kGoProgram);
  const std::string copy = folder.file("elsewhere/main.go", kGoProgram);
  const auto map = map_of(folder, "main.main[" + copy + ":4 start=3] 5\n");
  REQUIRE(map->file_of(copy) != nullptr);
  CHECK(map->targets.at(copy).doubt == Doubt::none);
}

TEST_CASE("a name alone is believed weakly, and wholly when the profile's functions stand on their lines") {
  const TempFolder folder;
  folder.file("w/main.go", kGoProgram);
  const auto weak = map_of(folder, "main.main[/build/x/main.go:4 start=3] 5\n");
  CHECK(weak->targets.at("/build/x/main.go").doubt == Doubt::name_only);
  const auto sure =
      map_of(folder, "main.main[/build/x/main.go:4 start=3];main.serve[/build/x/main.go:8 start=7] 5\n");
  CHECK(sure->targets.at("/build/x/main.go").doubt == Doubt::none);
}

TEST_CASE("a name alone is not believed against the text of the file") {
  const TempFolder folder;
  const std::string here = folder.file("w/main.go", kGoProgram);
  const auto others = map_of(folder, "main.listen[/build/x/main.go:4 start=3] 5\n");
  CHECK(others->file_of("/build/x/main.go") == nullptr);
  CHECK(lookalike_doubt(*others, here) == Doubt::no_function);
  const auto longer = map_of(folder, "main.main[/build/x/main.go:40 start=3] 5\n");
  CHECK(longer->file_of("/build/x/main.go") == nullptr);
  CHECK(lookalike_doubt(*longer, here) == Doubt::too_short);
}

TEST_CASE("several paths of a profile that share no more than a name with a file are none of them believed") {
  const TempFolder folder;
  const std::string here = folder.file("w/main.go", kGoProgram);
  const auto map = map_of(folder, "main.main[/a/main.go:4 start=3] 5\nmain.serve[/b/main.go:8 start=7] 5\n");
  CHECK(map->by_path.empty());
  CHECK(map->lookalikes.at(here).size() == 2);
  // One with more in common, or the path itself, leaves nothing to the others.
  const auto better =
      map_of(folder, "main.main[/a/main.go:4 start=3] 5\nmain.serve[" + here + ":8 start=7] 5\n");
  CHECK(better->file_of("/a/main.go") == nullptr);
  REQUIRE(better->file_of(here) != nullptr);
}

TEST_CASE("two equal components are evidence, and a path that is there elsewhere a doubt about it") {
  const TempFolder folder;
  folder.file("w/src/a.go", kGoProgram);
  const auto plain = map_of(folder, "main.main[/build/src/a.go:4 start=3] 5\n");
  CHECK(plain->targets.at("/build/src/a.go").doubt == Doubt::none);
  const std::string other = folder.file("other/src/a.go", "package other\n");
  const auto doubted = map_of(folder, "main.main[" + other + ":4 start=3] 5\n");
  CHECK(doubted->targets.at(other).doubt == Doubt::other_file);
  CHECK(doubted->targets.at(other).rule == MappingRule::suffix);
}

TEST_CASE("the path itself and a configured mapping need no further evidence") {
  const TempFolder folder;
  const std::string here = folder.file("w/main.go", "nothing of the kind\n");
  CHECK(map_of(folder, "main.main[" + here + ":1] 5\n")->targets.at(here).doubt == Doubt::none);
  WorkspaceSnapshot workspace = workspace_of((folder.path / "w").string());
  workspace.mappings = {{"/build/x", (folder.path / "w").string()}};
  const SourceTarget mapped = find_source(workspace, "/build/x/main.go");
  CHECK(mapped.rule == MappingRule::prefix);
  CHECK(mapped.doubt == Doubt::none);
}

TEST_CASE("what the text says about a match") {
  SourceTarget target;
  target.paths = {"/w/src/a.c"};
  target.components = 2;
  NameEvidence none;
  none.n_checked = 3;
  CHECK(judge_text(target, none).lookalike == "/w/src/a.c");
  none.n_checked = 2;  // compilers change names: two are no proof
  CHECK(judge_text(target, none).doubt == Doubt::no_function);
  target.components = 3;
  none.n_checked = 9;
  CHECK(judge_text(target, none).paths.size() == 1);
  target.rule = MappingRule::prefix;
  CHECK(judge_text(target, none).doubt == Doubt::none);
}

namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream in(std::string(PROFD_SOURCE_DIR "/") + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a recording of the JDK, which names classes alone, reaches the source of these classes") {
  const TempFolder folder;
  const std::string source = bytes_of("tests/fixtures/record/Busy.java");
  const std::string here = folder.file("w/src/main/java/Busy.java", source);
  // A class of the JDK is not the one of another package that has its name.
  folder.file("w/src/main/java/com/acme/ArrayList.java", "package com.acme;\n\nclass ArrayList {\n}\n");
  SerialExecutor executor;
  const auto opened = open_profiles(memory_source(bytes_of("formats/jfr/testdata/recorded-jdk.jfr.gz"), ""),
                                    OpenOptions{}, executor, {});
  REQUIRE(opened);
  const ProfilePtr profile = opened->profiles.front();
  const auto map = make_source_map(profile, workspace_of((folder.path / "w").string()), StopToken{});
  REQUIRE(map);
  REQUIRE((*map)->by_path.contains(here));
  CHECK((*map)->targets.at("Busy.java").doubt == Doubt::none);
  CHECK((*map)->by_path.size() == 1);
  const SelectionPtr selection = *select(profile, *parse_view_spec("top-down"), {});
  const LineValues lines = *annotate_lines(*selection, (*map)->by_path.at(here), StopToken{});
  // The line of fib that calls itself has something.
  const auto fib = source.find("return n < 2");
  REQUIRE(fib != std::string::npos);
  const auto line = static_cast<std::uint32_t>(
      std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(fib), '\n') + 1);
  CHECK(std::find(lines.line.begin(), lines.line.end(), line) != lines.line.end());
}

TEST_CASE("classes of Kotlin and nested ones are found in the files that hold them") {
  const TempFolder folder;
  const std::string kotlin = folder.file(
      "w/src/com/acme/App.kt", "package com.acme\n\nfun main() {\n}\n\nclass Sub {\n  fun run() {\n  }\n}\n");
  const auto map =
      map_of(folder, "com.acme.AppKt.main[com/acme/App.kt:3];com.acme.App$Sub.run[com/acme/App.java:7] 5\n");
  REQUIRE(map->file_of("com/acme/App.kt") != nullptr);
  REQUIRE(map->file_of("com/acme/App.java") != nullptr);
  CHECK(*map->file_of("com/acme/App.java") == kotlin);
  CHECK(map->by_path.at(kotlin).size() == 2);
}
