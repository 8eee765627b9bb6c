// Several profiles as one.
#include "core/model/merge.h"

#include <limits>

#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

Merged merged_of(std::initializer_list<std::string_view> texts, bool keep_contexts = false) {
  Merging merging;
  for (const std::string_view text : texts) REQUIRE(merging.add(*profile_from_text(text), keep_contexts, {}));
  SerialExecutor serial;
  auto merged = std::move(merging).finish(serial, {});
  REQUIRE(merged);
  return std::move(*merged);
}

template <class T>
std::vector<T> list_of(const GrowingVector<T>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("a metric that an input does not have is missing there, and 0 where it has it") {
  const Merged merged = merged_of({"# metrics: cpu/nanoseconds\nmain;f 3\n",
                                   "# metrics: cpu/nanoseconds alloc/bytes\nmain;g 4 100\n",
                                   "# metrics: alloc/count\nmain 7\n"});
  REQUIRE(merged.profile->metrics().size() == 3);  // bytes and a count are two
  CHECK(merged.values[0].measured == std::vector<std::uint8_t>{1, 1, 0});
  CHECK(merged.values[1].measured == std::vector<std::uint8_t>{0, 1, 0});
  CHECK(merged.values[2].measured == std::vector<std::uint8_t>{0, 0, 1});
  CHECK(merged.profile->total(MetricId{0u}) == Value{7L});
  CHECK(merged.context_of[0].empty());
}

TEST_CASE("lines and addresses of two builds are one context, functions of two files are two") {
  const Merged merged = merged_of(
      {"main;f[a.c:10 address=0x10] 1\nmain;f[a.c:11] 2\n", "main;f[a.c:99] 4\nmain;f[b.c:1] 8\n"}, true);
  CHECK(merged.profile->tree().size() == 4);
  CHECK(merged.context_of[0].size() == 4);
  CHECK(list_of(merged.values[0].input) == std::vector<std::uint32_t>{0, 1, 1});
  CHECK(list_of(std::get<GrowingVector<std::int64_t>>(merged.values[0].value)) ==
        std::vector<std::int64_t>{3, 4, 8});
}

TEST_CASE("whole numbers and fractions of one metric are fractions") {
  const Merged merged = merged_of({"f 3\n", "# fractional\nf 0.5\n", "f 2\n"});
  CHECK(merged.profile->total(MetricId{0u}) == Value{5.5});
  CHECK(list_of(std::get<GrowingVector<double>>(merged.values[0].value)) == std::vector<double>{3, 0.5, 2});
}

TEST_CASE("values that cancel out are kept by input, and are no row of the whole") {
  const Merged merged = merged_of({"main;f 3\nmain;g 1\n", "main;f -3\n"});
  CHECK(merged.profile->self().contexts.size() == 1);
  CHECK(merged.contexts.size() == 2);
  CHECK(list_of(merged.values[0].input) == std::vector<std::uint32_t>{0, 1, 0});
  CHECK(merged.values[0].first == std::vector<std::uint32_t>{0, 2, 3});
}

TEST_CASE("sums that do not fit are clamped, and said to be") {
  const std::string most = "f " + std::to_string(std::numeric_limits<std::int64_t>::max()) + "\n";
  const Merged merged = merged_of({most, most});
  CHECK(merged.profile->metrics()[0].saturated);
  CHECK_FALSE(merged.values[0].saturated);  // each input's own fits
}

TEST_CASE("many inputs take twelve bytes a value and the tree of all of them") {
  Merging merging;
  std::size_t n_values = 0, n_contexts = 1;
  for (int input = 0; input < 100; ++input) {
    std::string text;
    // Most paths are of all inputs, a tenth is of one alone.
    for (int i = 0; i < 1000; ++i) {
      const bool own = i % 10 == 0;
      text += "main;f" + std::to_string(i % 50) + ";g" + std::to_string(i) +
              (own ? "x" + std::to_string(input) : "") + " 3\n";
      ++n_values;
    }
    REQUIRE(merging.add(*profile_from_text(text), false, {}));
  }
  n_contexts += 1 + 50 + 900 + 100 * 100;
  CHECK(merging.memory() < 12 * n_values + 24 * n_contexts + 100 * 1100 * sizeof(std::uint32_t));
  SerialExecutor serial;
  const Merged merged = std::move(merging).finish(serial, {}).value();
  CHECK(merged.profile->tree().size() == n_contexts);
  CHECK(merged.profile->total(MetricId{0u}) == Value{std::int64_t{3} * static_cast<std::int64_t>(n_values)});
  CHECK(merged.memory() < 12 * n_values + 8 * n_contexts + 100 * 1100 * sizeof(std::uint32_t));
}

TEST_CASE("nothing cannot be merged, and a stop is heard") {
  SerialExecutor serial;
  CHECK(Merging().finish(serial, {}).error().code == ErrorCode::invalid);
  StopSource stop;
  stop.request_stop();
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "f" + std::to_string(i) + " 1\n";
  Merging merging;
  CHECK(merging.add(*profile_from_text(many), false, StopToken(stop)).error().code == ErrorCode::cancelled);
}

TEST_CASE("timelines stay with the inputs, and how much of them is counted") {
  ProfileBuilder builder;
  add_text(builder, "main 5 {thread=a time=10}\n");
  TimelineBuilder& timeline = builder.timeline();
  timeline.add_span({.begin = 1, .end = 2});
  timeline.add_marker({.begin = 1, .end = 1});
  const CounterId counter = timeline.counter({});
  timeline.add_point(counter, 1, 1);
  timeline.add_point(counter, 2, 1);
  timeline.add_task({});
  const ProfilePtr profile = std::move(builder).finish().value();
  Merging merging;
  REQUIRE(merging.add(*profile, false, {}));
  REQUIRE(merging.add(*profile_from_text("main 1\n"), false, {}));
  SerialExecutor serial;
  const auto merged = std::move(merging).finish(serial, {});
  REQUIRE(merged);
  CHECK(merged->profile->timeline() == nullptr);
  CHECK(merged->n_left == 5);
}
