// Several profiles as one.
#include "core/model/merge.h"

#include <limits>

#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

SerialExecutor serial;

MergedRows merged_of(std::initializer_list<std::string_view> texts, bool keep_contexts = false) {
  Merging merging;
  for (const std::string_view text : texts)
    REQUIRE(merging.add(*profile_from_text(text), {}, keep_contexts, {}));
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
  const MergedRows merged = merged_of({"# metrics: cpu/nanoseconds\nmain;f 3\n",
                                       "# metrics: cpu/nanoseconds alloc/bytes\nmain;g 4 100\n",
                                       "# metrics: alloc/count\nmain 7\n"});
  REQUIRE(merged.metrics.size() == 3);  // bytes and a count are two
  CHECK(merged.metrics[0].values.measured == std::vector<std::uint8_t>{1, 1, 0});
  CHECK(merged.metrics[1].values.measured == std::vector<std::uint8_t>{0, 1, 0});
  CHECK(merged.metrics[2].values.measured == std::vector<std::uint8_t>{0, 0, 1});
  CHECK(merged.metrics[1].metric_of == std::vector<std::uint32_t>{kNone, 1, kNone});
  CHECK(merged.context_of[0].empty());
}

TEST_CASE("addresses of two builds are one context, lines and functions of two files are several") {
  const MergedRows merged = merged_of({"main;f[a.c:10 address=0x10] 1\nmain;f[a.c:11] 2\n",
                                       "main;f[a.c:10 address=0x20] 4\nmain;f[b.c:1] 8\n"},
                                      true);
  CHECK(merged.tree.size() == 5);
  CHECK(merged.context_of[0].size() == 4);
  CHECK(list_of(merged.metrics[0].values.input) == std::vector<std::uint32_t>{0, 1, 0, 1});
  CHECK(list_of(std::get<GrowingVector<std::int64_t>>(merged.metrics[0].values.value)) ==
        std::vector<std::int64_t>{1, 4, 2, 8});
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
    REQUIRE(merging.add(*profile_from_text(text), {}, false, {}));
  }
  n_contexts += 1 + 50 + 900 + 100 * 100;
  CHECK(merging.memory() < 12 * n_values + 24 * n_contexts + 100 * 1100 * sizeof(std::uint32_t));
  const MergedRows merged = std::move(merging).finish(serial, {}).value();
  CHECK(merged.tree.size() == n_contexts);
  CHECK(merged.metrics[0].values.memory() < 12 * n_values + 8 * n_contexts);
}

TEST_CASE("nothing cannot be merged, and a stop is heard") {
  CHECK(Merging().finish(serial, {}).error().code == ErrorCode::invalid);
  StopSource stop;
  stop.request_stop();
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "f" + std::to_string(i) + " 1\n";
  Merging merging;
  CHECK(merging.add(*profile_from_text(many), {}, false, StopToken(stop)).error().code ==
        ErrorCode::cancelled);
}
