// The metric that is shown first has something to show, where any has.
#include "core/model/profile_builder.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

ProfilePtr profile(std::array<std::int64_t, 3> values, bool whatever = false) {
  ProfileBuilder builder;
  builder.add_metric("alloc_objects", "count");
  builder.add_metric("alloc_space", "bytes");
  builder.add_metric("inuse_space", "bytes");
  builder.set_default_metric(MetricId{2u}, whatever);
  FrameSpec frame;
  frame.function = builder.function("f");
  const std::array<FrameId, 1> stack = {builder.frame(frame)};
  builder.add_sample(stack, std::span<const std::int64_t>(values));
  return *std::move(builder).finish();
}

}  // namespace

TEST_CASE("a default metric that is 0 everywhere makes way for one that is not, and that is known") {
  const auto heap = profile({2, 512, 0});
  CHECK(heap->default_metric() == MetricId{1u});
  REQUIRE(heap->info().properties.size() == 1);
  CHECK(heap->info().properties[0].first == kInsteadOf);
  CHECK(heap->info().properties[0].second == "inuse_space");
  CHECK(profile({2, 0, 0})->default_metric() == MetricId{0u});
}

TEST_CASE("a default metric stays where it has something, nothing has, or it was chosen") {
  CHECK(profile({1, 512, 3})->default_metric() == MetricId{2u});
  CHECK(profile({0, 0, 0})->default_metric() == MetricId{2u});
  CHECK(profile({1, 1, 0}, true)->default_metric() == MetricId{2u});
  CHECK(profile({1, 512, 3})->info().properties.empty());
}
