#include "formats/support/cost_graph.h"

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

}  // namespace

TEST_CASE("costs stand where the calls prove it, and what calls cost is kept beside") {
  ProfileBuilder builder;
  ImportReport report;
  CostGraph graph(builder, {{"Ir", "count"}}, {});
  const auto node = [&](const char* name) {
    FrameSpec frame;
    frame.function = builder.function(name);
    return CostGraph::Node{frame.function, {}, builder.frame(frame)};
  };
  const CostGraph::Node main = node("main"), left = node("left"), right = node("right"), leaf = node("leaf");
  const auto self = [&](const CostGraph::Node& at, std::int64_t cost) {
    graph.add_self(at, std::span<const std::int64_t>(&cost, 1));
  };
  const auto call = [&](const CostGraph::Node& from, const CostGraph::Node& to, std::int64_t n,
                        std::int64_t cost) {
    graph.add_call(from, to, n, std::span<const std::int64_t>(&cost, 1));
  };
  self(main, 1);
  self(left, 10);
  self(right, 20);
  self(leaf, 300);
  call(main, left, 2, 110);
  call(main, right, 1, 220);
  call(left, leaf, 5, 100);
  call(right, leaf, 7, 200);
  REQUIRE(graph.finish(report));
  const auto profile = std::move(builder).finish();
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
