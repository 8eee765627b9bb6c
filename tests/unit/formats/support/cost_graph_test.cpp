#include "formats/support/cost_graph.h"

#include <set>
#include <string>

#include "tests/support/catch.h"

using namespace profd;

namespace {

// Self value of the stack "main;work", by names from the root.
std::int64_t self_of(const Profile& profile, const std::string& stack, std::size_t metric) {
  std::int64_t sum = 0;
  const SelfTable& self = profile.self();
  for (std::size_t row = 0; row < self.contexts.size(); ++row) {
    std::string path;
    for (std::uint32_t c = self.contexts[row]; c != 0; c = profile.tree().parent[c]) {
      const FunctionId function = profile.frames().function[profile.tree().frame[c]];
      path = std::string(profile.function_name(function)) + (path.empty() ? "" : ";" + path);
    }
    if (path == stack) sum += std::get<Column<std::int64_t>>(self.values[metric])[row];
  }
  return sum;
}

// A graph of one event.
class Program {
 public:
  explicit Program(const CostGraph::Options& options = {}) : graph_(builder_, {{"Ir", "count"}}, options) {}

  CostGraph::Node node(const char* name, std::uint32_t line = 0) {
    const FunctionId function = builder_.function(name, "a.c");
    return {function, {}, builder_.frame({.function = function, .line = line})};
  }
  void self(const CostGraph::Node& at, std::int64_t cost) { graph_.add_self(at, std::span(&cost, 1)); }
  void call(const CostGraph::Node& from, const CostGraph::Node& to, std::int64_t n, std::int64_t cost) {
    graph_.add_call(from, to, n, std::span(&cost, 1));
  }
  CostGraph& graph() { return graph_; }
  Result<ProfilePtr> finish() && {
    ImportReport report;
    PROFD_CHECK(graph_.finish(report));
    return std::move(builder_).finish();
  }

 private:
  ProfileBuilder builder_;
  CostGraph graph_;
};

// "main:4;right;leaf": names and, where they are known, lines.
std::set<std::string> paths(const Profile& profile) {
  std::set<std::string> out;
  for (const std::uint32_t context : profile.self().contexts) {
    std::string path;
    for (std::uint32_t c = context; c != 0; c = profile.tree().parent[c]) {
      const std::uint32_t frame = profile.tree().frame[c];
      const std::uint32_t line = profile.frames().line[frame];
      path = std::string(profile.function_name(profile.frames().function[frame])) +
             (line == 0 ? "" : ":" + std::to_string(line)) + (path.empty() ? "" : ";" + path);
    }
    out.insert(path);
  }
  return out;
}

// "f 12" or "f ?" for functions, "f:3>g 12" for calls.
std::set<std::string> statements(const Profile& profile) {
  const StatedCosts& stated = *profile.stated();
  const auto name = [&](std::uint32_t frame) {
    const std::uint32_t line = profile.frames().line[frame];
    return std::string(profile.function_name(profile.frames().function[frame])) +
           (line == 0 ? "" : ":" + std::to_string(line));
  };
  const auto cost = [](const auto& table, std::size_t row) {
    return table.known[row] == 0 ? std::string(" ?")
                                 : " " + std::to_string(std::get<Column<std::int64_t>>(table.totals[0])[row]);
  };
  std::set<std::string> out;
  for (std::size_t i = 0; i < stated.functions.size(); ++i)
    out.insert(name(stated.functions.frame[i]) + cost(stated.functions, i));
  for (std::size_t i = 0; i < stated.calls.size(); ++i)
    out.insert(name(stated.calls.caller[i]) + ">" + name(stated.calls.callee[i]) + cost(stated.calls, i));
  return out;
}

using Texts = std::set<std::string>;

}  // namespace

TEST_CASE("a callee stands at the line of the call, where that is one line") {
  Program program;
  program.self(program.node("main", 2), 1);
  program.self(program.node("once", 20), 10);
  program.self(program.node("twice", 30), 30);
  program.call(program.node("main", 4), program.node("once", 19), 1, 10);
  program.call(program.node("main", 4), program.node("once", 19), 1, 0);
  program.call(program.node("main", 5), program.node("twice", 29), 1, 10);
  program.call(program.node("main", 6), program.node("twice", 29), 2, 20);
  const auto profile = std::move(program).finish();
  REQUIRE(profile);
  // The calls are counted at the lines they were made on; what the two of them cost is not divided.
  CHECK(paths(**profile) == Texts{"main:2", "main:4;once:20", "main:4;once:19", "main;twice:30",
                                  "main:5;twice:29", "main:6;twice:29"});
}

TEST_CASE("what a file says of functions and calls is stated, and nothing else") {
  const auto build = [](const CostGraph::Options& options) {
    Program program(options);
    program.self(program.node("main", 2), 1);
    program.self(program.node("work", 20), 40);
    program.self(program.node("start", 9), 5);
    program.call(program.node("main", 4), program.node("work", 19), 1, 38);
    program.self(program.node("idle"), 2);
    program.graph().add_call(program.node("idle"), program.node("start"), 1, {});
    program.graph().add_call(program.node("work", 21), program.node("work", 19), 3, {});
    const std::int64_t total = 41;
    if (!options.totals_by_calls) program.graph().add_total(program.node("main"), std::span(&total, 1));
    return statements(**std::move(program).finish());
  };
  CHECK(build({}) ==
        Texts{"main 41", "work 40", "start 5", "idle ?", "main:4>work 38", "work:21>work ?", "idle>start ?"});
  CHECK(build({.totals_by_calls = true}) ==
        Texts{"main 39", "work 40", "start 5", "idle 2", "main:4>work 38", "work:21>work ?", "idle>start ?"});
}

TEST_CASE("costs stand where the calls prove it, and what calls cost is kept beside") {
  Program program;
  const CostGraph::Node main = program.node("main"), left = program.node("left"),
                        right = program.node("right"), leaf = program.node("leaf");
  program.self(main, 1);
  program.self(left, 10);
  program.self(right, 20);
  program.self(leaf, 300);
  program.call(main, left, 2, 110);
  program.call(main, right, 1, 220);
  program.call(left, leaf, 5, 100);
  program.call(right, leaf, 7, 200);
  const auto profile = std::move(program).finish();
  REQUIRE(profile);
  CHECK(std::get<std::int64_t>((*profile)->total(MetricId{0u})) == 331);
  CHECK(self_of(**profile, "main", 0) == 1);
  CHECK(self_of(**profile, "main;left", 0) == 10);
  CHECK(self_of(**profile, "main;right", 0) == 20);
  // Both sides call it; how its cost is shared is not known, and main is above it in any case.
  CHECK(self_of(**profile, "main;[several callers];leaf", 0) == 300);
  CHECK(self_of(**profile, "main;left;leaf", 1) == 5);
  CHECK(self_of(**profile, "main;right;leaf", 1) == 7);
  bool calls = false;
  for (const AssociationTable& table : (*profile)->associations()) {
    if (table.name != "calls") continue;
    calls = true;
    CHECK(table.roles == std::vector<std::string>{"caller", "callee"});
    CHECK(table.size() == 4);
    std::int64_t inclusive = 0;
    for (std::size_t m = 0; m < table.metrics.size(); ++m)
      if (table.metrics[m].name == "Ir inclusive")
        for (std::size_t i = 0; i < table.size(); ++i)
          inclusive += std::get<Column<std::int64_t>>(table.values[m])[i];
    CHECK(inclusive == 110 + 220 + 100 + 200);
  }
  CHECK(calls);
}
