// Whose files go when memory is short.
#include "server/engine/memory_share.h"

#include "tests/support/catch.h"

using namespace profd;

namespace {
constexpr ClientId kMany = 1, kFew = 2;
}

TEST_CASE("one client's files go oldest first, the newest one never for the others", "[memory]") {
  const std::vector<HeldFile> files{
      {1, 40, 7, {kMany}}, {2, 40, 3, {kMany}}, {3, 40, 9, {kMany}}, {4, 0, 1, {kMany}}};
  CHECK(plan_memory(files, 120, 3).closed.empty());
  const MemoryPlan plan = plan_memory(files, 80, 3);
  CHECK(plan.fits);
  CHECK(plan.closed == std::vector<std::uint64_t>{4, 2});
  CHECK(plan_memory(files, 40, 3).closed == std::vector<std::uint64_t>{4, 2, 1});
}

TEST_CASE("who is within its share loses nothing to who is over its own", "[memory]") {
  std::vector<HeldFile> files{{1, 30, 1, {kFew}}, {2, 40, 2, {kMany}}, {3, 40, 3, {kMany}}};
  MemoryPlan plan = plan_memory(files, 100, 3);
  CHECK(plan.fits);
  CHECK(plan.closed == std::vector<std::uint64_t>{2});
  // What is within its share takes the place of what is over it.
  files[0].last_use = 9;
  plan = plan_memory(files, 100, 1);
  CHECK(plan.closed == std::vector<std::uint64_t>{2});
}

TEST_CASE("what fits only in place of the shares of others does not fit, and closes nothing", "[memory]") {
  const std::vector<HeldFile> files{{1, 45, 1, {kFew}}, {2, 10, 2, {kMany}}, {3, 70, 3, {kMany}}};
  const MemoryPlan plan = plan_memory(files, 100, 3);
  CHECK_FALSE(plan.fits);
  CHECK(plan.closed.empty());
}

TEST_CASE("a file that a client within its share has open as well is not closed", "[memory]") {
  const std::vector<HeldFile> files{{1, 60, 1, {kMany, kFew}}, {2, 30, 2, {kMany}}, {3, 30, 3, {kMany}}};
  const MemoryPlan plan = plan_memory(files, 100, 3);
  CHECK(plan.fits);
  CHECK(plan.closed == std::vector<std::uint64_t>{2});
}
