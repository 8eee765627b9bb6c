// What becomes of a profile when a script is shown its contexts.
#include <map>
#include <random>

#include <fmt/format.h>

#include "core/model/context_metrics.h"
#include "core/model/rewrite.h"
#include "tests/support/profile_equal.h"
#include "tests/support/text_profile.h"
#include "tests/unit/script/run_script.h"

using namespace profd;
using namespace profd::test;

namespace {

using Paths = std::map<std::string, std::int64_t>;

std::string path_of(const Profile& profile, std::uint32_t context) {
  std::string path;
  for (; context != 0; context = profile.tree().parent[context]) {
    const std::string name(profile.function_name(profile.frames().function[profile.tree().frame[context]]));
    path = name + (path.empty() ? "" : ";") + path;
  }
  return path;
}

Paths paths_of(const Profile& profile, std::size_t metric = 0) {
  Paths out;
  const auto& values = std::get<Column<std::int64_t>>(profile.self().values[metric]);
  for (std::size_t row = 0; row < profile.self().contexts.size(); ++row)
    if (values[row] != 0) out[path_of(profile, profile.self().contexts[row])] += values[row];
  return out;
}

ProfilePtr tree() {
  return profile_from_text("main 1\nmain;a 5\nmain;a;b 10\nmain;a;b;x 3\nmain;c 7\nmain;c;b 2\n");
}

// What is left when nodes of a name are dealt with.
Paths after(const std::string& name, const std::string& what, const ProfilePtr& profile = tree()) {
  const ScriptOutcome outcome =
      run_of(fmt::format("profile:visit(function(node) if node.name == '{}' then {} end end)", name, what),
             {profile});
  INFO(outcome.error);
  REQUIRE(outcome.error.empty());
  return outcome.profile == nullptr ? Paths{{"unchanged", 0}} : paths_of(*outcome.profile);
}

const char* const kText =
    "main;a 5 {thread=w time=10 label:r=x}\nmain;a;b 10 {thread=w time=20}\nmain;c 7 {thread=v time=30}\n";

}  // namespace

TEST_CASE("an elided frame leaves its value on the caller") {
  CHECK(after("a", "node:elide()") ==
        Paths{{"main", 6}, {"main;b", 10}, {"main;b;x", 3}, {"main;c", 7}, {"main;c;b", 2}});
}

TEST_CASE("what is merged adds up, with what it calls") {
  CHECK(after("c", "local a for child in node.parent:children() do a = a or child end node:merge(a)") ==
        Paths{{"main", 1}, {"main;a", 12}, {"main;a;b", 12}, {"main;a;b;x", 3}});
}

TEST_CASE("names and tags move nothing") {
  CHECK(after("b", "node:rename('B') node:tag('hot') node:tag('io')") == Paths{{"main", 1},
                                                                               {"main;a", 5},
                                                                               {"main;a;B [hot] [io]", 10},
                                                                               {"main;a;B [hot] [io];x", 3},
                                                                               {"main;c", 7},
                                                                               {"main;c;B [hot] [io]", 2}});
}

TEST_CASE("what is below a stop is its own value") {
  CHECK(after("a", "node:stop()") == Paths{{"main", 1}, {"main;a", 18}, {"main;c", 7}, {"main;c;b", 2}});
}

TEST_CASE("a drop alone changes the total") {
  CHECK(after("a", "node:drop()") == Paths{{"main", 1}, {"main;c", 7}, {"main;c;b", 2}});
}

TEST_CASE("a script that changes nothing gives the same profile") {
  CHECK(after("nobody", "node:drop()") == Paths{{"unchanged", 0}});
  CHECK(run_of("", {tree()}).profile == nullptr);
}

TEST_CASE("nothing becomes one with what is dropped") {
  const ScriptOutcome outcome = run_of(
      "local a profile:visit(function(node) if node.name == 'a' then a = node node:drop() end "
      "if node.name == 'c' then node:merge(a) end end)",
      {tree()});
  CHECK(outcome.error == "a context cannot become one with another that is dropped");
  CHECK(outcome.profile == nullptr);
}

TEST_CASE("small nodes are left as they are, unless the script asks for them") {
  const ProfilePtr profile = profile_from_text("main;big 1000000\nmain;small 50\n");
  CHECK(after("small", "node:drop()", profile) == Paths{{"unchanged", 0}});
  const ScriptOutcome outcome = run_of(
      "print(profile:visit(function(node) end)) print(profile:visit(function(node) end, {min_share = 0}))",
      {profile});
  CHECK(outcome.text == "2\t1\n3\t0\n");
}

TEST_CASE("samples keep their threads, times and labels, wherever their frames go") {
  const ProfilePtr profile = profile_from_text(kText);
  const ScriptOutcome outcome =
      run_of("profile:visit(function(node) if node.name == 'a' then node:elide() end end)", {profile});
  REQUIRE(outcome.profile != nullptr);
  const SampleTable& samples = *outcome.profile->samples();
  REQUIRE(samples.size() == 3);
  CHECK(paths_of(*outcome.profile) == Paths{{"main", 5}, {"main;b", 10}, {"main;c", 7}});
  CHECK(std::vector<std::int64_t>(samples.time.begin(), samples.time.end()) ==
        std::vector<std::int64_t>{10, 20, 30});
}

TEST_CASE("random edits keep every value that is not dropped") {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int line = 0; line < 30; ++line) {
      std::string path = "m";
      for (std::uint32_t depth = below(6); depth > 0; --depth) path += fmt::format(";f{}", below(4));
      text += fmt::format("{} {}\n", path, 1 + below(100));
    }
    const ProfilePtr profile = profile_from_text(text);
    const ContextTree& contexts = profile->tree();
    ContextEdits edits;
    // What is dropped, by the rules as they are written: below a drop that is not below a stop.
    std::vector<std::uint8_t> dropped(contexts.size(), 0), stopped(contexts.size(), 0);
    edits.names = {"renamed"};
    for (std::uint32_t c = 1; c < contexts.size(); ++c) {
      dropped[c] = dropped[contexts.parent[c]];
      stopped[c] = stopped[contexts.parent[c]];
      if (below(3) != 0) continue;
      auto act = static_cast<ContextAct>(below(kNContextActs));
      std::uint32_t into = 0;
      if (act == ContextAct::merge) {
        into = c == 1 ? 0 : 1 + below(c - 1);
        if (into == 0 || dropped[into] != 0) act = ContextAct::elide;
      }
      if (stopped[c] == 0) {
        if (act == ContextAct::drop) dropped[c] = 1;
        if (act == ContextAct::stop) stopped[c] = 1;
      }
      edits.contexts.push_back(c);
      edits.acts.push_back(act);
      edits.into.push_back(act == ContextAct::merge ? into : 0);
      edits.name.push_back(below(2));
    }
    std::int64_t kept = 0;
    const auto& values = std::get<Column<std::int64_t>>(profile->self().values[0]);
    for (std::size_t row = 0; row < profile->self().contexts.size(); ++row)
      if (dropped[profile->self().contexts[row]] == 0) kept += values[row];
    const auto edited = edit_contexts(*profile, edits);
    REQUIRE(edited);
    CHECK((*edited)->total(MetricId{0u}) == Value(kept));
  }
}

TEST_CASE("edits that fit no profile are refused") {
  const ProfilePtr profile = tree();
  ContextEdits edits;
  edits.contexts = {1000};
  edits.acts = {ContextAct::drop};
  edits.into = edits.name = {0};
  const auto beyond = edit_contexts(*profile, edits);
  REQUIRE_FALSE(beyond);
  CHECK(beyond.error().code == ErrorCode::invalid);
}

TEST_CASE("metrics of columns are sums over the profile") {
  const ProfilePtr profile =
      profile_from_text("# metrics: cycles/count instructions/count\nmain;a 30 10\nmain;b 8 0\n");
  const ScriptOutcome outcome = run_of(
      "local c, i = profile:self('cycles'), profile:self('instructions')\n"
      "profile:add_metric('wasted', c - 2 * i, 'count')\n"
      "print((c / i):or_zero():sum(), c:above(9):sum(), (-c):least(-9):sum(), c:sum(), "
      "profile:totals('cycles'):sum())\n"
      "local ok, why = pcall(profile.add_metric, profile, 'cpi', c / i) print(why)",
      {profile});
  INFO(outcome.error);
  REQUIRE(outcome.profile != nullptr);
  CHECK(outcome.text ==
        "3.0\t1.0\t-57.0\t38.0\t114.0\n3 of 4 nodes have no value: something was divided by 0; or_zero() "
        "makes it 0\n");
  REQUIRE(outcome.profile->metrics().size() == 3);
  CHECK(outcome.profile->metrics()[2].name == "wasted");
  CHECK(outcome.profile->total(MetricId{2u}) == Value(std::int64_t{18}));
  CHECK(paths_of(*outcome.profile, 2) == Paths{{"main;a", 10}, {"main;b", 8}});
}

TEST_CASE("a metric may have values where the profile has none, and goes with contexts that are edited") {
  const ScriptOutcome outcome = run_of(
      "profile:add_metric('nodes', profile:self():map(function(v, id) return id == 0 and 0 or 1 end), "
      "'count')\n"
      "profile:visit(function(node) if node.name == 'a' then node:elide() end end)",
      {profile_from_text(kText)});
  INFO(outcome.error);
  REQUIRE(outcome.profile != nullptr);
  CHECK(paths_of(*outcome.profile, 1) == Paths{{"main", 2}, {"main;b", 1}, {"main;c", 1}});
  CHECK(paths_of(*outcome.profile, 0) == Paths{{"main", 5}, {"main;b", 10}, {"main;c", 7}});
}

TEST_CASE("whole numbers are exact for a script") {
  const ScriptOutcome outcome =
      run_of("for node in profile:nodes() do print(node, node:self(), node:total(), node.depth) end",
             {profile_from_text("main 1\nmain;a 9007199254740993\n")});
  CHECK(outcome.text ==
        "(root)"
        "\t0\t9007199254740994\t0\nmain\t1\t9007199254740994\t1\na\t9007199254740993\t9007199254740993\t2\n");
}
