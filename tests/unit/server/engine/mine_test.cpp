// What is the user's own code, by the files of a workspace and by what is configured.
#include "server/engine/mine.h"

#include "server/engine/project_file.h"
#include "server/engine/workspace_files.h"
#include "server/feature/flame_answer.h"
#include "server/feature/places.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr const char* kApp =
    "main[/build/app/main.go:3];net/http.serve[/go/net/http/server.go:9];net/http.read[/go/net/http/io.go:5];"
    "work[/build/app/work.go:4] 5\n"
    "main[/build/app/main.go:3];vendored[/build/app/vendor/x/y.go:2] 3\n"
    "memcpy 2\n";

struct Project {
  TempFolder folder;
  WorkspaceSnapshot workspace;
  Project() {
    folder.file("app/main.go", "package main\n\nfunc main() {\n}\n");
    folder.file("app/work.go", "package main\n\n\nfunc work() {\n}\n");
    folder.file("app/vendor/x/y.go", "package y\nfunc vendored() {\n}\n");
    workspace.key = folder.path.string();
    workspace.files = index_workspace({folder.path.string()}, 1, StopToken{}, 1 << 20);
  }
};

ViewSpec mine(std::shared_ptr<const FrameRule> rule, const char* text = "top-down | mine") {
  ViewSpec spec = spec_from(text);
  decide_mine(spec.filters, [&] { return rule; });
  return spec;
}

// Names of the boxes with their totals, in the order of the picture.
std::string boxes(Viewed& viewed, const ViewSpec& spec) {
  FlameRequest request;
  request.open = viewed.open;
  request.spec = spec;
  request.layout.min_width_px = 0;
  const auto found = flame_answer(viewed.views, request, StopToken{});
  REQUIRE(found);
  std::string out;
  for (std::size_t i = 0; i < found->boxes.depth.size(); ++i)
    out += std::string(found->boxes.depth[i], ' ') + found->names[found->boxes.name[i]] + " " +
           std::to_string(whole(found->boxes.total[i])) + "\n";
  return out;
}

}  // namespace

TEST_CASE(
    "code is mine where its file is in the workspace and not in a folder of others; runs of the rest fold") {
  const Project project;
  Viewed viewed(kApp);
  CHECK(boxes(viewed, mine(mine_rule(project.workspace, {}))) ==
        "all 10\n"
        " (other code) 2\n"
        " main 8\n"
        "  (other code) 8\n"
        "   work 5\n");
}

TEST_CASE("what is named is mine: a package, a folder, a module, and nothing else") {
  const Project project;
  Viewed viewed(kApp);
  CHECK(boxes(viewed, mine(mine_rule(project.workspace, {"net/http"}))).find("net/http.read 5") !=
        std::string::npos);
  CHECK(boxes(viewed, mine(mine_rule(project.workspace, {"net/http"}))).find("main") == std::string::npos);
  CHECK(boxes(viewed, mine(mine_rule(project.workspace, {"net"}))).find("net/http.read 5") !=
        std::string::npos);
  CHECK(boxes(viewed, mine(mine_rule(project.workspace, {"./app"}))).find("vendored 3") != std::string::npos);
  CHECK(boxes(viewed, mine(mine_rule(project.workspace, {"ap"}))).find("main") != std::string::npos);
  const auto nothing =
      viewed.views.selection(*viewed.open, mine(mine_rule(project.workspace, {"ap"})), StopToken{});
  REQUIRE(nothing);
  REQUIRE((*nothing)->warnings().size() == 1);
  CHECK((*nothing)->warnings().front().find("`mine` changes nothing") == 0);
}

TEST_CASE("two workspaces that share a daemon have each their own code") {
  const Project project;
  Viewed viewed(kApp);
  const std::string first = boxes(viewed, mine(mine_rule(project.workspace, {})));
  const std::string second = boxes(viewed, mine(mine_rule(project.workspace, {"net/http"})));
  CHECK(first != second);
  CHECK(boxes(viewed, mine(mine_rule(project.workspace, {}))) == first);
}

TEST_CASE("hot spots of my code have what ran in it, and one row of the rest") {
  const Project project;
  Viewed viewed(kApp);
  PlacesRequest request;
  request.open = viewed.open;
  request.spec = mine(mine_rule(project.workspace, {}), "flat | mine");
  const auto found = hot_places(viewed.views, request, StopToken{});
  REQUIRE(found);
  REQUIRE(found->places.size() == 2);
  CHECK(found->places[0].name == "(other code)");
  CHECK(whole(found->places[0].self) == 5);
  CHECK(found->places[1].name == "work");
}

TEST_CASE("without a workspace nobody knows what is mine, and that is said") {
  Viewed viewed(kApp);
  const auto selection = viewed.views.selection(*viewed.open, spec_from("flat | mine"), StopToken{});
  REQUIRE(!selection);
  CHECK(selection.error().code == ErrorCode::invalid);
}

TEST_CASE("a project names its own code") {
  const auto project =
      parse_project_file("mine = [\"app\", \"net/http\"]\nfilters = [\"mine\"]\n", "/p/.profd.toml");
  REQUIRE(project);
  CHECK(project->problems.empty());
  CHECK(project->settings.mine == std::vector<std::string>{"app", "net/http"});
  CHECK(project->settings.filters.front().by == FilterBy::mine);
}
