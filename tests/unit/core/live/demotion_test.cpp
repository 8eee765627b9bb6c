#include "core/live/demotion.h"

#include "tests/support/catch.h"

using namespace profd;
using namespace profd::live;

namespace {

// A second of one busy thread.
WindowSum second_of(std::vector<MethodSum> methods) {
  WindowSum window;
  window.end = 1'000'000'000;
  window.methods = std::move(methods);
  for (const MethodSum& sum : window.methods) window.events += 2 * sum.calls;
  window.threads.push_back({0, 0, 1'000'000'000, 0, 0});
  return window;
}

}  // namespace

TEST_CASE("methods that are called often and take next to nothing lose their probes") {
  DemotionRule rule;
  const WindowSum window = second_of({{1, 0, 30'000'000, 60'000, 1},  // half a microsecond each
                                      {2, 0, 90'000'000, 60'000, 1},  // more than one
                                      {3, 0, 1'000'000, 40'000, 1},   // not that often
                                      {4, 0, 10'000'000, 90'000, 1}});
  CHECK(methods_to_demote(window, rule, {}) == std::vector<MethodId>{4, 1});
  std::vector<bool> keep(5);
  keep[4] = true;
  CHECK(methods_to_demote(window, rule, keep) == std::vector<MethodId>{1});
}

TEST_CASE("beyond the budget as many of the most called lose their probes as it takes to be well within it") {
  DemotionRule rule;
  rule.event_cost_ns = 1'000;
  // 80, 80, 80 and 20 ms.
  const WindowSum window = second_of({{1, 0, 1'000'000, 40'000, 1},
                                      {2, 0, 1'000'000, 40'000, 1},
                                      {3, 0, 1'000'000, 40'000, 1},
                                      {4, 0, 1'000'000, 10'000, 1}});
  CHECK(probe_share(window, rule.event_cost_ns) == Approx(0.26));
  CHECK(methods_to_demote(window, rule, {}) == std::vector<MethodId>{1, 2, 3});
}

TEST_CASE("within the budget no method loses its probe that is called seldom enough") {
  DemotionRule rule;
  rule.event_cost_ns = 1'000;
  CHECK(methods_to_demote(second_of({{1, 0, 1'000'000, 45'000, 1}}), rule, {}).empty());
}
