#include "core/compare/family.h"

#include <algorithm>
#include <cmath>

#include "core/compare/one_run.h"

namespace profd {
namespace {

bool is_chance(double p) {
  return p >= 0 && p <= 1;
}

// The tests that can reach the level when it is divided among as many as they are; which these are depends on
// least_p alone, and so on nothing that the tests then look at.
std::vector<std::size_t> asked_of(std::span<const FamilyTest> tests) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tests.size(); ++i)
    if (is_chance(tests[i].p) && is_chance(tests[i].least_p)) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return tests[a].least_p != tests[b].least_p ? tests[a].least_p < tests[b].least_p : a < b;
  });
  // The fewest parts of the level which no more tests than parts can reach.
  std::size_t parts = 1;
  const auto reaches = [&](std::size_t i) { return tests[i].least_p <= kLevel / static_cast<double>(parts); };
  while (parts < order.size() && reaches(order[parts])) ++parts;
  const auto end = std::partition_point(order.begin(), order.end(), reaches);
  order.erase(end, order.end());
  return order;
}

}  // namespace

Family stand_out(std::span<const FamilyTest> tests) {
  Family family;
  family.standing.resize(tests.size(), Standing::none);
  std::vector<std::size_t> order = asked_of(tests);
  family.n_asked = order.size();
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return tests[a].p != tests[b].p ? tests[a].p < tests[b].p : a < b;
  });
  const auto n = static_cast<double>(order.size());
  std::size_t n_candidates = 0, n_out = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double p = tests[order[i]].p, rank = static_cast<double>(i);
    if (n_out == i && p <= kLevel / (n - rank)) ++n_out;
    if (p <= kLevel * (rank + 1) / n) n_candidates = i + 1;
  }
  for (std::size_t i = 0; i < n_candidates; ++i) family.standing[order[i]] = Standing::candidate;
  for (std::size_t i = 0; i < n_out; ++i) family.standing[order[i]] = Standing::stands_out;
  return family;
}

}  // namespace profd
