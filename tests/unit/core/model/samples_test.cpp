#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/model/profile_builder.h"
#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;

namespace {

FrameId frame(ProfileBuilder& builder, std::size_t number) {
  return builder.frame({.function = builder.function("f" + std::to_string(number))});
}

std::array<std::int64_t, 1> value(std::int64_t v) {
  return {v};
}

}  // namespace

TEST_CASE("a metric is found again by the name that answers show, whatever bytes the file had for it") {
  ProfileBuilder builder;
  builder.add_metric("wall\xff\xfe", "ns");
  const FrameId f = frame(builder, 0);
  builder.add_sample(std::array{f}, value(1));
  const auto profile = std::move(builder).finish();
  REQUIRE(profile);
  CHECK((*profile)->metrics().front().name == "wall\uFFFD");
}

TEST_CASE("contexts are found again however many there are") {
  constexpr std::size_t kFrames = 50, kSteps = 200'000;
  ProfileBuilder builder;
  std::vector<FrameId> frames;
  for (std::size_t i = 0; i < kFrames; ++i) frames.push_back(frame(builder, i));
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
  std::mt19937 random(3);
  std::vector<ContextId> contexts{kRootContext};
  for (std::size_t i = 0; i < kSteps; ++i) {
    const ContextId parent = contexts[random() % contexts.size()];
    const FrameId leaf = frames[random() % kFrames];
    const ContextId context = builder.context(parent, leaf);
    const auto [at, is_new] = known.try_emplace({parent.v, leaf.v}, context.v);
    if (at->second != context.v) FAIL("context " << context.v << " was " << at->second);
    if (is_new) contexts.push_back(context);
  }
  CHECK(known.size() + 1 == contexts.size());
}

TEST_CASE("samples without labels, threads or times stand beside those that have them") {
  ProfileBuilder builder;
  builder.add_metric("samples", "count");
  const ContextId a = builder.context(kRootContext, frame(builder, 1));
  const ThreadId thread = builder.thread({.name = "t"});
  const Label label{.key = builder.string("k"), .text = builder.string("v")};
  builder.add_sample(a, value(1));
  builder.add_sample(a, value(2), {.thread = thread, .time = {}});
  builder.add_sample(a, value(3), {.labels = builder.label_set({&label, 1}), .time = {}});
  builder.add_sample(a, value(4), {.time = 9});
  builder.add_sample(a, value(5));
  const auto profile = std::move(builder).finish();
  REQUIRE(profile);
  const SampleTable* samples = (*profile)->samples();
  REQUIRE(samples != nullptr);
  CHECK(std::vector(samples->thread.begin(), samples->thread.end()) ==
        std::vector<std::uint32_t>{kNone, thread.v, kNone, kNone, kNone});
  CHECK(std::vector(samples->label_set.begin(), samples->label_set.end()) ==
        std::vector<std::uint32_t>{0, 0, 1, 0, 0});
  CHECK(std::vector(samples->time.begin(), samples->time.end()) ==
        std::vector<std::int64_t>{kNoTime, kNoTime, kNoTime, 9, kNoTime});
}

TEST_CASE("self values of added and sampled contexts are summed, and zeros have no row") {
  ProfileBuilder builder;
  const MetricId counts = builder.add_metric("samples", "count");
  const MetricId ratio = builder.add_metric("ratio", "count", true);
  const ContextId a = builder.context(kRootContext, frame(builder, 1));
  const ContextId b = builder.context(a, frame(builder, 2));
  const ContextId c = builder.context(a, frame(builder, 0));
  const ContextId d = builder.context(c, frame(builder, 3));
  builder.add_self(b, counts, std::int64_t{5});
  builder.add_self(d, ratio, 0.5);
  const auto sample = [&](ContextId context, std::int64_t count, double share) {
    builder.add_sample(context, std::array<Value, 2>{Value{count}, Value{share}});
  };
  sample(b, 2, 0.25);
  sample(c, 3, 0);
  sample(c, -3, 0);
  sample(a, 0, 0);
  const auto profile = std::move(builder).finish();
  REQUIRE(profile);
  const auto& self = (*profile)->self();
  std::map<std::string, std::pair<std::int64_t, double>> by_name;
  for (std::size_t row = 0; row < self.contexts.size(); ++row) {
    const std::uint32_t leaf = (*profile)->tree().frame[self.contexts[row]];
    const auto name =
        (*profile)->strings()[(*profile)->functions().name[(*profile)->frames().function[leaf].v]];
    by_name[std::string(name)] = {std::get<Column<std::int64_t>>(self.values[0])[row],
                                  std::get<Column<double>>(self.values[1])[row]};
  }
  CHECK(by_name.size() == 2);
  CHECK(by_name["f2"] == std::pair<std::int64_t, double>(7, 0.25));
  CHECK(by_name["f3"] == std::pair<std::int64_t, double>(0, 0.5));
}

TEST_CASE("values of one context that do not fit together are clamped, and the metric says so") {
  const std::string most = std::to_string(std::numeric_limits<std::int64_t>::max());
  const auto profile = test::profile_from_text("f " + most + "\nf " + most + "\n");
  CHECK(profile->metrics()[0].saturated);
  ProfileBuilder builder;
  const MetricId metric = builder.add_metric("calls", "count");
  const ContextId context = builder.context(kRootContext, builder.frame({builder.function("f")}));
  for (int i = 0; i < 2; ++i) builder.add_self(context, metric, std::numeric_limits<std::int64_t>::max());
  CHECK(std::move(builder).finish().value()->metrics()[0].saturated);
}
