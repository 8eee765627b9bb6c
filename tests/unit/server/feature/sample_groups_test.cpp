#include "server/feature/sample_groups.h"

#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;

namespace {

SampleGroups groups_of(const char* text, std::size_t limit = 100) {
  const auto profile = test::profile_from_text(text);
  auto groups = sample_groups(*profile, MetricId{0u}, limit, StopToken{});
  REQUIRE(groups.has_value());
  return *std::move(groups);
}

std::string text_of(const SampleGroup& group) {
  std::string out;
  for (const auto& row : group.rows)
    out += row.filter + ": " + row.amount.text + " " + row.amount.share_text + "\n";
  if (group.left) out += group.left->text + "\n";
  return out + "without " + group.without.text;
}

}  // namespace

TEST_CASE("threads are listed with what they hold, heaviest first, and the filter that keeps one",
          "[groups]") {
  const SampleGroups groups =
      groups_of("main;f 10 {thread=a}\nmain;f 20 {thread=by}\nmain;g 5 {thread=a}\nmain;h 65\n");
  CHECK(groups.total.text == "100");
  REQUIRE(groups.threads);
  CHECK(text_of(*groups.threads) == "thread \"by\": 20 20.0 %\nthread a: 15 15.0 %\nwithout 65");
}

TEST_CASE("what is beyond the limit is counted and valued", "[groups]") {
  const SampleGroups groups = groups_of("f 10 {thread=a}\nf 20 {thread=b}\nf 5 {thread=c}\n", 1);
  REQUIRE(groups.threads);
  REQUIRE(groups.threads->rows.size() == 1);
  REQUIRE(groups.threads->left);
  CHECK(groups.threads->left->count == 2);
  CHECK(groups.threads->left->amount.text == "15");
  CHECK(groups.threads->without.text == "0");
}

TEST_CASE("a profile without samples has neither threads nor labels", "[groups]") {
  const SampleGroups groups = groups_of("main;f 10\n");
  CHECK_FALSE(groups.threads);
  CHECK(groups.labels.empty());
}

TEST_CASE("each group's filter keeps what the group says", "[groups]") {
  const auto profile =
      test::profile_from_text("main;f 10 {thread=a}\nmain;f 20 {thread=b}\nmain;g 5 {thread=a}\n");
  const auto groups = sample_groups(*profile, MetricId{0u}, 10, StopToken{});
  REQUIRE(groups.has_value());
  REQUIRE(groups->threads);
  for (const auto& row : groups->threads->rows) {
    const auto spec = parse_view_spec("flat | " + row.filter);
    REQUIRE(spec.has_value());
    const auto selection = select(profile, *spec, StopToken{});
    REQUIRE(selection.has_value());
    CHECK((*selection)->sums->total == row.amount.value);
  }
}

TEST_CASE("threads and fields that only markers have are no groups of samples", "[groups]") {
  ProfileBuilder builder;
  test::add_text(builder, "main;f 5 {thread=a time=10 label:k=v}\n");
  const Label field{builder.string("url"), false, builder.string("x")};
  builder.timeline().add_marker({.begin = 1,
                                 .end = 1,
                                 .thread = builder.thread({.name = "gc"}),
                                 .fields = builder.label_set({&field, 1})});
  const auto profile = std::move(builder).finish().value();
  const auto groups = sample_groups(*profile, MetricId{0u}, 100, StopToken{});
  REQUIRE(groups.has_value());
  CHECK(text_of(*groups->threads) == "thread a: 5 100 %\nwithout 0");
  REQUIRE(groups->labels.size() == 1);
  CHECK(groups->labels[0].key == "k");
}
