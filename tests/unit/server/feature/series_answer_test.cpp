// What each input of an aggregate has of a box or row, as clients get it.
#include "server/feature/series_answer.h"

#include <map>

#include "server/feature/flame_answer.h"
#include "server/feature/spread_answer.h"
#include "tests/support/catch.h"
#include "tests/support/composed.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

Viewed four_ranks() {
  return Viewed(composed(Composed::aggregate,
                         {"# metrics: cpu/count\nmain;work 10\nmain;wait 5\n",
                          "# metrics: cpu/count\nmain;work 10\nmain;work;deep 2\n",
                          "# metrics: cpu/count\nmain;work 40\n", "# metrics: cpu/count\nmain;wait 5\n"})
                    .value());
}

Result<SeriesAnswer> series_at(Viewed& viewed, std::string_view spec, std::vector<std::string> names,
                               bool totals = true, std::size_t points = 500) {
  SeriesRequest request;
  request.open = viewed.open;
  request.spec = spec_from(spec);
  if (!names.empty()) request.at.names = NamePath{std::move(names), false};
  request.totals = totals;
  request.points = points;
  return series_answer(viewed.views, request, {});
}

using Doubles = std::vector<double>;

}  // namespace

TEST_CASE("series: a box has what each profile has there, in every shape") {
  Viewed viewed = four_ranks();
  CHECK(series_at(viewed, "top-down", {})->points.value == Doubles{15, 12, 40, 5});
  CHECK(series_at(viewed, "top-down", {"main", "work"})->points.value == Doubles{10, 12, 40, 0});
  CHECK(series_at(viewed, "top-down", {"main", "work"}, false)->points.value == Doubles{10, 10, 40, 0});
  CHECK(series_at(viewed, "bottom-up", {"deep", "work"})->points.value == Doubles{0, 2, 0, 0});
  CHECK(series_at(viewed, "callees of main", {"wait"})->points.value == Doubles{5, 0, 0, 5});
  CHECK(series_at(viewed, "callers of work", {"main"})->points.value == Doubles{10, 12, 40, 0});
}

TEST_CASE("series: a row of a flat view counts a stack once") {
  Viewed viewed(composed(Composed::aggregate, {"f;f;g 3\n", "f 1\ng;f;f 4\n"}).value());
  CHECK(series_at(viewed, "flat", {"f"})->points.value == Doubles{3, 5});
  CHECK(series_at(viewed, "flat", {"f"}, false)->points.value == Doubles{0, 5});
}

TEST_CASE("series: how the values lie, by hand") {
  Viewed viewed = four_ranks();
  const auto answer = series_at(viewed, "top-down", {"main", "work"});
  REQUIRE(answer);
  REQUIRE(answer->spread);
  CHECK(answer->name == "work");
  CHECK(answer->spread->spread.sum == 62);
  CHECK(answer->spread->spread.mean == 15.5);
  CHECK(answer->spread->median == 10);
  CHECK(answer->spread->p90 == 40);
  CHECK(answer->spread->n_present == 3);
  CHECK(answer->largest == "3");
  CHECK(answer->histogram->counts == std::vector<std::uint32_t>{3, 1});
  CHECK(answer->text == "In 3 of 4 profiles: mean 15.5, most 40 in 3, 158.1 % above the mean.");
  REQUIRE(answer->trend);
  CHECK(answer->trend->kind == TrendKind::reclaimed);
}

TEST_CASE("series: what grows over snapshots, and what was given back, is said") {
  std::vector<std::string> texts;
  for (int i = 1; i <= 8; ++i)
    texts.push_back("# metrics: inuse/bytes\nmain;keep " + std::to_string(i * 1024) + "\nmain;drop " +
                    std::to_string(i < 6 ? i * 1024 : 512) + "\n");
  std::vector<ProfilePtr> inputs;
  for (const std::string& text : texts) inputs.push_back(profile_from_text(text));
  Viewed viewed(composed(Composed::aggregate, inputs).value());
  CHECK(
      series_at(viewed, "flat", {"keep"})->text ==
      "In 8 of 8 profiles: mean 4.50 KiB, most 8.00 KiB in 8, 77.8 % above the mean. It grows beyond chance, "
      "+1.00 KiB a snapshot.");
  CHECK(series_at(viewed, "flat", {"drop"})
            ->text.ends_with("It was given back: the last value is below half of the largest."));
}

TEST_CASE("series: of very many profiles there are all statistics and no trend") {
  std::vector<ProfilePtr> inputs;
  for (std::size_t i = 0; i <= kMostForTrend; ++i)
    inputs.push_back(profile_from_text("main " + std::to_string(i) + "\n"));
  Viewed viewed(composed(Composed::aggregate, inputs).value());
  const auto answer = series_at(viewed, "flat", {"main"});
  REQUIRE(answer);
  CHECK_FALSE(answer->trend);
  CHECK(answer->spread->spread.n == kMostForTrend + 1);
  CHECK(answer->histogram->counts.size() == 23);
  CHECK(answer->points.value.size() == 500);
}

TEST_CASE("series: filters hold for every profile") {
  Viewed viewed = four_ranks();
  CHECK(series_at(viewed, "top-down | drop function deep", {"main"})->points.value == Doubles{15, 10, 40, 5});
  CHECK(series_at(viewed, "top-down | hide function work", {"main", "deep"})->points.value ==
        Doubles{0, 2, 0, 0});
}

TEST_CASE("series: more profiles than points are thinned, no peak is lost, and it says so") {
  Viewed viewed = four_ranks();
  const auto answer = series_at(viewed, "top-down", {"main"}, true, 2);
  REQUIRE(answer);
  CHECK(answer->points.input == std::vector<std::uint32_t>{0, 2});
  CHECK(answer->points.value == Doubles{15, 40});
  CHECK(answer->thinned == "2 of 4 profiles are points: of neighbours the one with the most");
  CHECK(answer->spread->spread.n == 4);
  CHECK(series_at(viewed, "top-down", {"main"})->thinned.empty());
}

TEST_CASE("series: what is no aggregate, and what the view does not have, is refused with a sentence") {
  Viewed one("main 1\n");
  const auto refused = series_at(one, "top-down", {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "a series is one of several profiles put together: aggregate them first");
  Viewed viewed = four_ranks();
  CHECK(series_at(viewed, "top-down", {"main", "other"}).error().code == ErrorCode::not_found);
  CHECK(series_at(viewed, "flat", {"other"}).error().code == ErrorCode::not_found);
  CHECK(series_at(viewed, "flat", {}).error().message ==
        "a flat view has rows: say which, by its key or its name");
  CHECK_FALSE(series_at(viewed, "flat", {"main", "work"}));
}

TEST_CASE("the series of a table's rows are thinned as asked for") {
  Viewed viewed = four_ranks();
  SpreadRequest request;
  request.open = viewed.open;
  request.spec = spec_from("flat");
  request.limit = 1;
  CHECK(spread_answer(viewed.views, request, {})->columns.series == std::vector<Doubles>{{10, 10, 40, 0}});
  request.points = 2;
  const auto thinned = spread_answer(viewed.views, request, {});
  CHECK(thinned->columns.series == std::vector<Doubles>{{10, 40}});
  CHECK(thinned->thinned == "each series has 2 values: of neighbouring profiles the largest");
}

TEST_CASE("rows of a spread can be searched") {
  Viewed viewed = four_ranks();
  SpreadRequest request;
  request.open = viewed.open;
  request.spec = spec_from("flat");
  request.search = "^w";
  const auto answer = spread_answer(viewed.views, request, {});
  REQUIRE(answer);
  CHECK(answer->names == std::vector<std::string>{"work", "wait"});
  CHECK(answer->n_rows == 2);
  request.search = "(";
  CHECK_FALSE(spread_answer(viewed.views, request, {}));
}

TEST_CASE("rows of a spread are sorted, left out and told by any statistic") {
  Viewed viewed = four_ranks();
  SpreadRequest request;
  request.open = viewed.open;
  request.spec = spec_from("flat");
  request.order = *parse_statistic("p75");
  request.more = {*parse_statistic("p75"), *parse_statistic("uneven")};
  request.where = {"max >= 15"};
  const auto answer = spread_answer(viewed.views, request, {});
  REQUIRE(answer);
  SpreadRequest all;
  all.open = viewed.open;
  all.spec = request.spec;
  CHECK(answer->n_rows + answer->n_left_out == spread_answer(viewed.views, all, {})->n_rows);
  CHECK(answer->n_left_out > 0);
  for (const Spread& spread : answer->columns.spread) CHECK(spread.max >= 15);
  const std::vector<StatisticColumn>& more = answer->columns.more;
  REQUIRE(more.size() == 2);
  CHECK(more[0].statistic == "p75");
  for (std::size_t i = 1; i < more[0].value.size(); ++i) CHECK(*more[0].value[i - 1] >= *more[0].value[i]);
  CHECK(more[1].statistic == "imbalance");
  CHECK(more[1].text == answer->columns.imbalance_text);
  request.where = {"max >= 15 MB"};
  CHECK(spread_answer(viewed.views, request, {}).error().code == ErrorCode::invalid);
}

TEST_CASE("boxes of an aggregate are coloured by how uneven its inputs are") {
  Viewed viewed = four_ranks();
  FlameRequest request;
  request.open = viewed.open;
  request.spec = spec_from("top-down");
  request.color_spread = *parse_statistic("imbalance");
  const auto answer = flame_answer(viewed.views, request, {});
  REQUIRE(answer);
  REQUIRE(answer->boxes.color);
  std::map<std::string, std::string> colors;
  for (std::size_t i = 0; i < answer->boxes.name.size(); ++i)
    colors[answer->names[answer->boxes.name[i]]] = (*answer->boxes.color_text)[i];
  CHECK(colors == std::map<std::string, std::string>{{"all", "122.2 %"},
                                                     {"main", "122.2 %"},
                                                     {"work", "158.1 %"},
                                                     {"deep", "300.0 %"},
                                                     {"wait", "100.0 %"}});
  request.color_spread = *parse_statistic("lost");
  CHECK((*flame_answer(viewed.views, request, {})->boxes.color_text)[0] == "88");
  Viewed one("main 1\n");
  request.open = one.open;
  CHECK_FALSE(flame_answer(one.views, request, {}));
}
