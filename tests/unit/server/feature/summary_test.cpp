#include "server/feature/summary.h"

#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;

namespace {

SelectionPtr selection_of(const char* text, ViewSpec spec = {}) {
  auto selection = select(test::profile_from_text(text), spec, StopToken{});
  REQUIRE(selection.has_value());
  return *selection;
}

}  // namespace

TEST_CASE("a summary names the hottest functions with bars and shares", "[summary]") {
  const auto summary = summarize(*selection_of("# metrics: cpu/nanoseconds\n"
                                               "main;a::f<int> 600\nmain;a::f<char> 300\nmain 100\n"),
                                 ImportReport{});
  REQUIRE(summary.has_value());
  CHECK(summary->total_text == "1.00 µs");
  REQUIRE(summary->hottest.size() == 3);
  CHECK(summary->hottest[0].name == "a::f<int>");
  // Both would shorten to a::f<…>.
  CHECK(summary->hottest[0].short_name == "a::f<int>");
  CHECK(summary->hottest[1].short_name == "a::f<char>");
  CHECK(summary->hottest[0].self_share == "60.0 %");
  CHECK(summary->hottest[0].bar == 1.0);
  CHECK(summary->hottest[1].bar == 0.5);
  CHECK(summary->hottest[2].total_share == "100 %");
}

TEST_CASE("a summary names the heaviest paths from the root", "[summary]") {
  const auto summary = summarize(*selection_of("a;b;c 5\na;b 9\na;d 1\nx 3\ny 2\n"), ImportReport{});
  REQUIRE(summary.has_value());
  REQUIRE(summary->heaviest.size() == 3);
  CHECK(summary->heaviest[0].names == std::vector<std::string>{"a", "b"});
  CHECK(summary->heaviest[1].names == std::vector<std::string>{"a", "b", "c"});
  CHECK(summary->heaviest[1].self_share == "25.0 %");
  CHECK(summary->heaviest[2].names == std::vector<std::string>{"x"});
  CHECK(summary->n_contexts == 6);
}

TEST_CASE("heaviest paths that would read the same are told apart", "[summary]") {
  const auto summary = summarize(
      *selection_of("main;Map<int, Less>::find 5\nmain;Map<int, Greater>::find 4\n"), ImportReport{});
  REQUIRE(summary.has_value());
  REQUIRE(summary->heaviest.size() == 2);
  CHECK(summary->heaviest[0].short_names == std::vector<std::string>{"main", "Map<…, Less>::find"});
  CHECK(summary->heaviest[1].short_names == std::vector<std::string>{"main", "Map<…, Greater>::find"});
}

TEST_CASE("a filtered summary ranks what passed and totals the whole", "[summary]") {
  ViewSpec spec;
  Filter drop;
  drop.op = FilterOp::drop;
  drop.pattern = "b";
  spec.filters.push_back(drop);
  const auto summary = summarize(*selection_of("a;b 5\na;c 2\n", spec), ImportReport{});
  REQUIRE(summary.has_value());
  CHECK(std::get<std::int64_t>(summary->total) == 2);
  CHECK(std::get<std::int64_t>(summary->metrics[0].total) == 7);
  REQUIRE(summary->hottest.size() == 1);
  CHECK(summary->hottest[0].name == "c");
}

TEST_CASE("a profile without values has a summary without lists", "[summary]") {
  const auto summary = summarize(*selection_of("a;b 0\n"), ImportReport{});
  REQUIRE(summary.has_value());
  CHECK(summary->hottest.empty());
  CHECK(summary->heaviest.empty());
  CHECK(summary->total_text == "0");
}

TEST_CASE("negative values are ranked by magnitude", "[summary]") {
  const auto summary = summarize(*selection_of("a 3\nb -8\n"), ImportReport{});
  REQUIRE(summary.has_value());
  REQUIRE(summary->hottest.size() == 2);
  CHECK(summary->hottest[0].name == "b");
  CHECK(summary->hottest[0].self_text == "-8");
}
