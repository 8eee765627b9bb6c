#include "formats/support/cycles.h"

#include <random>

#include "tests/support/catch.h"

using profd::find_components;
using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

TEST_CASE("nodes on a cycle are one component, others are alone") {
  const auto c = find_components(6, Edges{{0, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 3}, {4, 0}});
  CHECK(c[1] == c[2]);
  for (const auto& [a, b] : Edges{{0, 1}, {2, 3}, {3, 4}, {4, 0}, {5, 0}, {5, 3}}) CHECK(c[a] != c[b]);
}

TEST_CASE("components are those of reachability both ways") {
  std::mt19937 random(24);
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t n = 1 + random() % 9;
    Edges edges;
    for (std::uint32_t i = random() % 16; i > 0; --i) edges.emplace_back(random() % n, random() % n);
    std::vector<std::vector<bool>> reach(n, std::vector<bool>(n, false));
    for (std::uint32_t i = 0; i < n; ++i) reach[i][i] = true;
    for (const auto& [from, to] : edges) reach[from][to] = true;
    for (std::uint32_t k = 0; k < n; ++k)
      for (std::uint32_t i = 0; i < n; ++i)
        for (std::uint32_t j = 0; j < n; ++j)
          if (reach[i][k] && reach[k][j]) reach[i][j] = true;
    const auto c = find_components(n, edges);
    for (std::uint32_t i = 0; i < n; ++i)
      for (std::uint32_t j = 0; j < n; ++j) REQUIRE((c[i] == c[j]) == (reach[i][j] && reach[j][i]));
  }
}

TEST_CASE("a chain as long as a file can hold needs no stack") {
  Edges edges;
  constexpr std::uint32_t kLong = 200'000;
  for (std::uint32_t i = 0; i < kLong; ++i) edges.emplace_back(i, i + 1);
  edges.emplace_back(kLong, 1);
  const auto c = find_components(kLong + 1, edges);
  CHECK(c[0] != c[1]);
  CHECK(c[1] == c[kLong]);
}
