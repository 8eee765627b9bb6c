// Trees as lists of paths.
#include "server/feature/path_rows.h"

#include <algorithm>

#include "server/feature/join_answer.h"
#include "tests/support/catch.h"
#include "tests/support/composed.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::string_view kPathsBefore =
    "# metrics: cost/count\nmain;parse 30\nmain;old;parse 5\nmain;same 7\n";
constexpr std::string_view kPathsAfter = "# metrics: cost/count\nmain;parse 40\nmain;new 2\nmain;same 7\n";

PathRowsRequest paths_request(const Viewed& viewed, std::string_view spec, std::vector<std::string> metrics) {
  PathRowsRequest request;
  request.open = viewed.open;
  request.spec = spec_from(spec);
  request.metrics = std::move(metrics);
  return request;
}

std::string joined(const PathRows& answer, std::size_t row) {
  std::string out;
  for (const std::string_view name : answer.path_of(row)) (out += out.empty() ? "" : ";") += name;
  return out;
}

// "main;parse 30 40", self and total of a metric after those of the one before.
std::vector<std::string> path_lines(const PathRows& answer) {
  std::vector<std::string> out;
  for (std::size_t row = 0; row < answer.box_of_row.size(); ++row) {
    std::string line = joined(answer, row);
    for (const BoxValues& values : answer.values)
      line += " " + std::to_string(whole(values.self[row])) + "/" + std::to_string(whole(values.total[row]));
    out.push_back(line);
  }
  return out;
}

}  // namespace

TEST_CASE("paths of a diff go by what changed, with those of one side alone") {
  Viewed viewed(composed(Composed::diff, {kPathsBefore, kPathsAfter}).value());
  PathRowsRequest request = paths_request(viewed, "top-down", {"cost before", "cost"});
  request.by_change = ChangeOrder::size;
  const PathRows answer = path_rows(viewed.views, request, {}).value();
  CHECK(path_lines(answer) == std::vector<std::string>{"main;parse 30/30 40/40", "main;old;parse 5/5 0/0",
                                                       "main;new 0/0 2/2", "main 0/42 0/49",
                                                       "main;old 0/5 0/0"});
  REQUIRE(answer.changes);
  CHECK(answer.changes->self_delta ==
        std::vector<Value>{Value{10L}, Value{-5L}, Value{2L}, Value{0L}, Value{0L}});
  REQUIRE(answer.unchanged);
  CHECK(answer.unchanged->count == 1);
  CHECK(answer.sides->change == "+7 (+17 %)");
  request.limit = 2;
  const PathRows page = path_rows(viewed.views, request, {}).value();
  CHECK(path_lines(page).size() == 2);
  CHECK(page.n_rows == 5);
  REQUIRE(page.remainder);
  CHECK(page.remainder->count == 3);
  request.by_change = ChangeOrder::better;
  CHECK(joined(path_rows(viewed.views, request, {}).value(), 0) == "main;old;parse");
}

TEST_CASE("paths are of the shape that is asked for, root first, and of any metric that has them") {
  Viewed viewed(composed(Composed::join, {kPathsBefore, "# metrics: heat/count\nmain;grow 9\n"}).value());
  const PathRows answer =
      path_rows(viewed.views, paths_request(viewed, "bottom-up", {"cost", "heat"}), {}).value();
  std::vector<std::string> paths;
  for (std::size_t row = 0; row < answer.box_of_row.size(); ++row) paths.push_back(joined(answer, row));
  std::sort(paths.begin(), paths.end());
  CHECK(paths == std::vector<std::string>{"grow", "grow;main", "parse", "parse;main", "parse;old",
                                          "parse;old;main", "same", "same;main"});
  CHECK(path_rows(viewed.views, paths_request(viewed, "flat", {"cost"}), {}).error().code ==
        ErrorCode::invalid);
}

TEST_CASE("a join has a column for each profile, and says how much of them matched") {
  Viewed viewed(composed(Composed::join, {"# metrics: cost/count\nmain;parse 60\nmain;write 40\n",
                                          "# metrics: cost/count\nmain;parse 5\nmain;grow 15\n"})
                    .value());
  JoinRequest request;
  request.open = viewed.open;
  request.spec = spec_from("flat");
  const JoinAnswer answer = join_answer(viewed.views, request, {}).value();
  REQUIRE(answer.inputs.size() == 2);
  CHECK(answer.inputs[0].metric == "cost");
  CHECK(answer.inputs[1].metric == "cost (2)");
  CHECK(answer.inputs[0].n_rows == 3);
  CHECK(answer.inputs[0].n_matched == 2);
  CHECK(answer.inputs[0].matched.share_text == "60.0 %");
  CHECK(answer.inputs[1].matched.share_text == "25.0 %");
  std::vector<std::string> names;
  for (const std::uint32_t name : answer.rows.rows.name) names.push_back(answer.rows.names[name]);
  CHECK(names == std::vector<std::string>{"grow", "parse", "write", "main"});
  CHECK(answer.columns[0].self[0] == std::nullopt);
  CHECK(answer.columns[1].self[0] == Value{15L});
  CHECK(answer.columns[0].self[1] == Value{60L});
  CHECK(answer.columns[1].total[3] == Value{20L});
  Viewed diff(composed(Composed::diff, {kPathsBefore, kPathsAfter}).value());
  request.open = diff.open;
  CHECK(join_answer(diff.views, request, {}).error().code == ErrorCode::invalid);
}

TEST_CASE("the metric that is asked for stands in place of its profile's main one, and orders the rows") {
  Viewed viewed(
      composed(Composed::join, {"# metrics: cost/count heat/count\nmain;parse 60 1\nmain;write 40 3\n",
                                "# metrics: space/count\nmain;parse 5\n"})
          .value());
  CHECK(main_metrics(*viewed.open->profile, "") == std::vector<std::string>{"cost", "space"});
  CHECK(main_metrics(*viewed.open->profile, "heat") == std::vector<std::string>{"heat", "space"});
  JoinRequest request;
  request.open = viewed.open;
  request.spec = spec_from("flat | metric heat");
  const JoinAnswer answer = join_answer(viewed.views, request, {}).value();
  CHECK(answer.rows.names[answer.rows.rows.name[0]] == "write");
  CHECK(answer.columns[0].metric == "heat");
}
