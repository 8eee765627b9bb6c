// Which scripts there are, what their heads say, and which may run.
#include "server/engine/analyses.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

struct Here {
  test::TempFolder folder;
  AnalysisPlaces places;
  Here() {
    places.roots = {folder.path.string() + "/w"};
    places.user_folder = folder.path.string() + "/config/analyses";
    places.trusted_folder = folder.path.string() + "/state/trusted";
    fs::create_directories(places.roots.front());
  }
  [[nodiscard]] fs::path script(const std::string& name) const {
    return fs::path(places.roots.front()) / ".profd/analyses" / (name + ".lua");
  }
};

}  // namespace

TEST_CASE("a head says what a script takes, without running it") {
  const auto head = parse_analysis_head(
      "-- @title What is slow\n--\n-- @profiles 2..8\n-- @arg rows integer 20 Rows of the table\n"
      "-- @arg name string \"a b\" A name\n-- @arg all boolean false\nprint(1)\n-- @arg late integer 1 No\n");
  REQUIRE(head);
  CHECK(head->title == "What is slow");
  CHECK(head->min_profiles == 2);
  CHECK(head->max_profiles == 8);
  REQUIRE(head->arguments.size() == 3);
  CHECK(head->arguments[1].value == "a b");
  CHECK(head->arguments[1].documentation == "A name");
}

TEST_CASE("a head that is wrong has its line") {
  for (const auto& [text, line, why] :
       {std::tuple("-- @title x\n-- @arg rows integer many", "line 2", "the default of rows is no integer"),
        std::tuple("-- @profiles 0", "line 1",
                   "@profiles takes how many profiles the script is of, as 1 or 2..64"),
        std::tuple("-- @argument rows", "line 1",
                   "the head of a script has @title, @profiles and @arg, and no @argument"),
        std::tuple("-- @arg a integer 1\n-- @arg a integer 2", "line 2", "there are two arguments a")}) {
    const auto head = parse_analysis_head(text);
    REQUIRE_FALSE(head);
    CHECK(head.error().message == why);
    CHECK(head.error().where == std::vector<std::string>{line});
  }
}

TEST_CASE("arguments are those of the head, of its types") {
  const auto head = parse_analysis_head("-- @arg rows integer 20 Rows\n-- @arg share number 0.5 Share\n");
  REQUIRE(head);
  const auto bound = bind_arguments(*head, {{"rows", "5"}});
  REQUIRE(bound);
  CHECK((*bound)[0].value == "5");
  CHECK((*bound)[1].value == "0.5");
  CHECK(bind_arguments(*head, {{"row", "5"}}).error().message ==
        "the script has no argument `row`; it has: rows, share");
  CHECK(bind_arguments(*head, {{"rows", "5.5"}}).error().message ==
        "`5.5` is no integer, which `rows` of the script is");
  CHECK_FALSE(bind_arguments(*head, {{"share", "nan"}}));
}

TEST_CASE("scripts of the workspace stand before the user's, those before profd's") {
  Here here;
  CHECK(find_analyses(here.places).analyses.size() == 11);
  write(fs::path(here.places.user_folder) / "gc_share.lua", "-- @title Mine\n");
  CHECK(find_analysis(here.places, "gc_share")->head.title == "Mine");
  write(here.script("gc_share"), "-- @title Theirs\n");
  write(here.script("bad name"), "");
  write(here.script("broken"), "-- @arg x y z\n");
  const FoundAnalyses found = find_analyses(here.places);
  CHECK(found.analyses.size() == 11);
  CHECK(found.problems.size() == 2);
  CHECK(find_analysis(here.places, "gc_share")->origin == AnalysisOrigin::workspace);
  CHECK(find_analysis(here.places, "broken").error().code == ErrorCode::invalid);
  CHECK(find_analysis(here.places, "nothing").error().message.find("there are: allocation_churn") !=
        std::string::npos);
}

TEST_CASE("a script of the workspace is trusted when its user said so, as long as it is the same") {
  Here here;
  write(here.script("mine"), "print(1)\n");
  const auto found = find_analysis(here.places, "mine");
  REQUIRE(found);
  CHECK_FALSE(is_trusted(*found, here.places));
  REQUIRE(trust(*found, here.places));
  CHECK(is_trusted(*found, here.places));
  write(here.script("mine"), "print(2)\n");
  CHECK_FALSE(is_trusted(*find_analysis(here.places, "mine"), here.places));
  // A copy of it elsewhere is another one.
  write(here.script("copy"), "print(1)\n");
  CHECK_FALSE(is_trusted(*find_analysis(here.places, "copy"), here.places));
}

TEST_CASE("scripts in a folder that others can write to are not used") {
  Here here;
  write(here.script("mine"), "print(1)\n");
  REQUIRE(::chmod(here.script("mine").parent_path().c_str(), 0777) == 0);
  const FoundAnalyses found = find_analyses(here.places);
  CHECK(found.analyses.size() == 11);
  REQUIRE(found.problems.size() == 1);
  CHECK(found.problems[0].find("can be written to by everybody") != std::string::npos);
}

TEST_CASE("a script that is a link out of its folder is not used") {
  Here here;
  write(here.folder.path / "elsewhere.lua", "print(1)\n");
  fs::create_directories(here.script("x").parent_path());
  fs::create_symlink(here.folder.path.string() + "/elsewhere.lua", here.script("link"));
  CHECK(find_analyses(here.places).analyses.size() == 11);
  CHECK(find_analyses(here.places).problems.size() == 1);
}

TEST_CASE("what is saved is trusted, and nothing is written over without a word") {
  Here here;
  const auto saved = save_analysis(here.places, "mine", "print(1)\n", false);
  REQUIRE(saved);
  CHECK(*saved == here.script("mine").string());
  CHECK(is_trusted(*find_analysis(here.places, "mine"), here.places));
  CHECK_FALSE(save_analysis(here.places, "mine", "print(2)\n", false));
  CHECK(save_analysis(here.places, "mine", "print(2)\n", true));
  CHECK_FALSE(save_analysis(here.places, "../mine", "print(2)\n", true));
  CHECK_FALSE(save_analysis({}, "mine", "", false));
}

TEST_CASE("of a folder with very many scripts the first are taken, and a message says so") {
  Here here;
  for (std::size_t i = 0; i < kMaxAnalyses + 2; ++i) write(here.script("s" + std::to_string(1000 + i)), "");
  const FoundAnalyses found = find_analyses(here.places);
  CHECK(found.analyses.size() == 11 + kMaxAnalyses);
  REQUIRE(found.problems.size() == 1);
  CHECK(found.problems[0].find("2 scripts beyond the first 500 are not taken") != std::string::npos);
}
