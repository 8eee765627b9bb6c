#include "formats/support/dominators.h"

#include <random>

#include "core/support/id.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// Nodes that can be reached from the root when `without` is taken away.
std::vector<bool> reachable(std::uint32_t n, const Edges& edges, std::uint32_t without) {
  std::vector<bool> seen(n, false);
  seen[0] = without != 0;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [from, to] : edges) {
      if (!seen[from] || seen[to] || to == without) continue;
      seen[to] = more = true;
    }
  }
  return seen;
}

}  // namespace

TEST_CASE("dominators: a diamond is dominated by where it begins") {
  const Dominators found = find_dominators(5, Edges{{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}});
  CHECK(found.idom == std::vector<std::uint32_t>{kNone, 0, 1, 1, 1});
  CHECK(found.dominates(1, 4));
  CHECK_FALSE(found.dominates(2, 4));
}

TEST_CASE("dominators: what cannot be reached is in no order") {
  const Dominators found = find_dominators(4, Edges{{0, 1}, {2, 3}, {3, 2}});
  CHECK(found.order.size() == 2);
}

TEST_CASE("dominators: random graphs agree with taking each node away") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t n = 2 + random() % 9;
    Edges edges;
    for (std::uint32_t i = 0; i < n * 2; ++i) edges.emplace_back(random() % n, random() % n);
    const Dominators found = find_dominators(n, edges);
    const std::vector<bool> all = reachable(n, edges, kNone);
    INFO("round " << round);
    for (std::uint32_t a = 0; a < n; ++a) {
      const std::vector<bool> rest = reachable(n, edges, a);
      for (std::uint32_t b = 0; b < n; ++b) {
        if (all[a] && all[b]) CHECK(found.dominates(a, b) == (a == b || !rest[b]));
      }
    }
    std::vector<bool> seen(n, false);
    for (const std::uint32_t node : found.order) {
      if (node != 0) CHECK(seen[found.idom[node]]);
      seen[node] = true;
    }
  }
}

TEST_CASE("dominators: a chain of 200,000 nodes needs no recursion") {
  Edges edges;
  for (std::uint32_t i = 1; i < 200'000; ++i) edges.emplace_back(i - 1, i);
  edges.emplace_back(199'999, 0);
  CHECK(find_dominators(200'000, edges).idom.back() == 199'998);
}
