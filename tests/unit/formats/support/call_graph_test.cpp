#include "formats/support/call_graph.h"

#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

struct Call {
  int caller, callee;
};

// Self 1 for every function at its context, 10 for every edge at its own.
std::map<std::string, double> placed(const std::vector<std::string>& names, const std::vector<Call>& calls,
                                     const std::vector<int>& entries = {}) {
  ProfileBuilder builder;
  const MetricId metric = builder.add_metric("self", "count");
  std::vector<FrameId> frames;
  for (const std::string& name : names) frames.push_back(builder.frame({.function = builder.function(name)}));
  CallGraph graph(frames);
  for (const Call& call : calls)
    graph.add_edge(static_cast<std::uint32_t>(call.caller), static_cast<std::uint32_t>(call.callee));
  for (const int entry : entries) graph.mark_entry(static_cast<std::uint32_t>(entry));
  graph.place(builder);
  for (std::uint32_t i = 0; i < frames.size(); ++i)
    builder.add_self(graph.context(i), metric, std::int64_t{1});
  for (std::uint32_t i = 0; i < graph.n_edges(); ++i)
    builder.add_self(graph.edge_context(i), metric, std::int64_t{10});
  const auto profile = std::move(builder).finish();
  REQUIRE(profile);
  return self_by_path(**profile, "self");
}

using Paths = std::map<std::string, double>;

}  // namespace

TEST_CASE("call graph: one caller each gives the stacks themselves") {
  CHECK(placed({"main", "a", "b"}, {{0, 1}, {1, 2}}) == Paths{{"main", 1}, {"main;a", 11}, {"main;a;b", 11}});
}

TEST_CASE("call graph: with two callers the stack is known up to where they meet") {
  CHECK(placed({"main", "a", "b", "c", "d"}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}}) ==
        Paths{{"main", 1},
              {"main;a", 11},
              {"main;b", 11},
              {"main;a;c", 10},
              {"main;b;c", 10},
              {"main;[several callers];c", 1},
              {"main;[several callers];c;d", 11}});
}

TEST_CASE("call graph: recursion leaves the stack above it known") {
  CHECK(placed({"main", "fib", "add"}, {{0, 1}, {1, 1}, {1, 2}}) ==
        Paths{{"main", 1}, {"main;fib", 11}, {"main;fib;fib", 10}, {"main;fib;add", 11}});
  CHECK(placed({"main", "even", "odd"}, {{0, 1}, {1, 2}, {2, 1}}) ==
        Paths{{"main", 1}, {"main;even", 11}, {"main;even;odd", 11}, {"main;even;odd;even", 10}});
}

TEST_CASE("call graph: an entry that is also called begins stacks of its own") {
  CHECK(placed({"main", "a"}, {{0, 1}}, {1}) ==
        Paths{{"main", 1}, {"main;a", 10}, {"[several callers];a", 1}});
}

TEST_CASE("call graph: functions that only call each other have no known beginning") {
  CHECK(placed({"a", "b"}, {{0, 1}, {1, 0}}) == Paths{{"[several callers];a", 1},
                                                      {"[several callers];b", 1},
                                                      {"[several callers];a;b", 10},
                                                      {"[several callers];b;a", 10}});
}
