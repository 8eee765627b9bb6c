// Metrics by formula in answers: columns, order, colours, what they read like.
#include "server/feature/metric_values.h"

#include "server/engine/formula_metrics.h"
#include "server/feature/flame_answer.h"
#include "server/feature/table_answer.h"
#include "tests/support/catch.h"
#include "tests/support/composed.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::string_view kCounters =
    "# metrics: cycles/count instructions/count time/nanoseconds space/bytes\n"
    "main;fast 100 200 4 8192\nmain;slow 300 100 2 0\nmain;idle 50 0 1 0\n";

void derive(Viewed& viewed, const std::vector<DerivedMetric>& metrics) {
  auto open = std::make_shared<OpenProfile>(*viewed.open);
  if (!open->loaded) {
    auto loaded = std::make_shared<LoadedProfiles>();
    loaded->profiles.push_back(open->profile);
    open->loaded = std::move(loaded);
  }
  set_formulas(*open, metrics);
  REQUIRE(open->derived->unfit.empty());
  viewed.open = std::move(open);
}

TableAnswer formula_table(Viewed& viewed, std::string_view spec, std::string_view metric,
                          std::string_view sort = "", bool descending = true) {
  TableAnswerRequest request;
  request.open = viewed.open;
  request.spec = spec_from(spec);
  request.metrics = {std::string(metric)};
  request.sort_metric = sort;
  request.descending = descending;
  return table_answer(viewed.views, request, {}).value();
}

// "slow 3.00 3.00"
std::vector<std::string> formula_rows(const TableAnswer& answer) {
  std::vector<std::string> out;
  const MetricRows& column = answer.columns.front();
  for (std::size_t i = 0; i < answer.rows.name.size(); ++i)
    out.push_back(answer.names[answer.rows.name[i]] + " " + column.self_text[i] + " " + column.total_text[i]);
  return out;
}

std::string number_text(std::string_view formula, std::string_view unit, double value) {
  Viewed viewed(kCounters);
  derive(viewed, {{"x", std::string(formula), std::string(unit)}});
  return metric_text(*viewed.open, "x", Value{value});
}

FlameRequest flame_request(const Viewed& viewed, std::string_view color) {
  FlameRequest request;
  request.open = viewed.open;
  request.spec = spec_from("top-down");
  request.layout.viewport_px = 1000;
  request.color_metric = color;
  return request;
}

}  // namespace

TEST_CASE("a ratio of a row is one of its sums, and has no value where it divides by nothing", "[derived]") {
  Viewed viewed(kCounters);
  derive(viewed, {{"cpi", "cycles / instructions", ""}});
  const TableAnswer answer = formula_table(viewed, "flat", "cpi");
  CHECK(formula_rows(answer) ==
        std::vector<std::string>{"slow 3.00 3.00", "fast 0.50 0.50", "idle n/a n/a", "main n/a 1.50"});
  CHECK(answer.columns[0].n_without == 1);
  CHECK(answer.columns[0].unit.empty());
}

TEST_CASE("rows without a value come last, whichever way rows are sorted", "[derived]") {
  Viewed viewed(kCounters);
  derive(viewed, {{"cpi", "cycles / instructions", ""}});
  CHECK(formula_rows(formula_table(viewed, "flat", "cpi", "cpi")) ==
        std::vector<std::string>{"slow 3.00 3.00", "fast 0.50 0.50", "main n/a 1.50", "idle n/a n/a"});
  CHECK(formula_rows(formula_table(viewed, "flat", "cpi", "cpi", false)) ==
        std::vector<std::string>{"fast 0.50 0.50", "slow 3.00 3.00", "main n/a 1.50", "idle n/a n/a"});
  // By a stored one as well.
  CHECK(formula_rows(formula_table(viewed, "flat", "cpi", "instructions")).front() == "fast 0.50 0.50");
}

TEST_CASE("levels of trees have columns of further metrics", "[derived]") {
  Viewed viewed(kCounters);
  derive(viewed, {{"cpi", "cycles / instructions", ""}});
  const TableAnswer root = formula_table(viewed, "top-down", "cpi");
  CHECK(formula_rows(root) == std::vector<std::string>{"main n/a 1.50"});
  TableAnswerRequest request;
  request.open = viewed.open;
  request.spec = spec_from("top-down");
  request.metrics = {"cpi", "instructions"};
  request.expand = {root.rows.key[0]};
  const TableAnswer level = table_answer(viewed.views, request, {}).value();
  CHECK(formula_rows(level) == std::vector<std::string>{"slow 3.00 3.00", "fast 0.50 0.50", "idle n/a n/a"});
  CHECK(level.columns[1].total_text == std::vector<std::string>{"100", "200", "0"});
  request.sort_metric = "cpi";
  CHECK_FALSE(table_answer(viewed.views, request, {}));
}

TEST_CASE("a view is as wide as a formula that adds up, and as none that does not", "[derived]") {
  Viewed viewed(kCounters);
  derive(viewed, {{"cpi", "cycles / instructions", ""}, {"rest", "cycles - instructions", ""}});
  const auto refusal_text = [&](std::string_view spec) {
    return prepare_view(viewed.views, *viewed.open, spec_from(spec), {}).error().message;
  };
  CHECK(refusal_text("flat | metric cpi") ==
        "cpi is cycles / instructions, which does not add up: nothing is as wide as it. It can be a column, "
        "what "
        "rows are sorted by, or a colour");
  CHECK(check_width(*viewed.open, "cycles"));
  TableAnswerRequest request;
  request.open = viewed.open;
  request.spec = spec_from("flat | metric rest");
  const TableAnswer table = table_answer(viewed.views, request, {}).value();
  CHECK(table.names.front() == "slow");
  CHECK(table.rows.self_text == std::vector<std::string>{"200", "50", "0", "-100"});
  CHECK(table.head.metric == "rest");
  CHECK(table.head.total.text == "150");
  // Another formula of the name is another metric, in views as well.
  derive(viewed, {{"rest", "instructions - cycles", ""}});
  request.open = viewed.open;
  CHECK(table_answer(viewed.views, request, {})->names.front() == "fast");
}

TEST_CASE("a default metric by formula stays the same one whatever other formulas come and go", "[derived]") {
  Viewed viewed(kCounters);
  const DerivedMetric first{"first", "2 * cycles", ""}, second{"second", "3 * cycles", ""},
      third{"third", "4 * cycles", ""};
  derive(viewed, {first, second, third});
  auto open = std::make_shared<OpenProfile>(*viewed.open);
  open->metric = *open->profile->find_metric("second");
  set_formulas(*open, {second, third});
  CHECK(open->metric_info().name == "second");
  set_formulas(*open, {third});
  CHECK(open->metric_info().name == "cycles");
}

TEST_CASE("a formula is no width of what is put together of others, which is said", "[derived]") {
  Viewed viewed(composed(Composed::diff, {"main 10\n", "main 30\n"}).value());
  derive(viewed, {{"twice", "2 * samples", ""}});
  CHECK(prepare_view(viewed.views, *viewed.open, spec_from("flat | metric twice"), {})
            .error()
            .message.find("twice is 2 * samples, which these profiles were put together without") == 0);
}

TEST_CASE("a metric that is nowhere is told with why", "[derived]") {
  Viewed viewed("# metrics: cycles/count\nmain 1\n");
  auto open = std::make_shared<OpenProfile>(*viewed.open);
  open->derived = std::make_shared<const DerivedMetrics>(
      derive_metrics(*open->profile, {{"cpi", "cycles / instructions", ""}}));
  CHECK(check_metric(*open, "cycles"));
  CHECK(check_metric(*open, "cpi").error().message ==
        "cpi is cycles / instructions, and there is no metric instructions at character 10 of the formula; "
        "there is "
        "cycles");
  CHECK(check_metric(*open, "cycle").error().message.find("did you mean cycles?") != std::string::npos);
}

TEST_CASE("numbers by formula read by their unit", "[derived]") {
  CHECK(number_text("cycles / instructions", "", 1.25) == "1.25");
  CHECK(number_text("1000 * cycles / instructions", "", 0.0123) == "0.0123");
  CHECK(number_text("time / 2", "", 1500) == "1.50 µs");
  CHECK(number_text("space / cycles", "", 2048) == "2.00 KiB");
  CHECK(number_text("space / time", "", 2048) == "2.00 KiB/ns");
  CHECK(number_text("cycles / time", "", 3.5) == "3.50/ns");
  CHECK(number_text("space * space", "", 3) == "3.00 bytes^2");
  CHECK(number_text("cycles - instructions", "", -12345) == "-12.3 k");
  CHECK(number_text("1000 * cycles / instructions", "misses/kinst", 4) == "4.00 misses/kinst");
  CHECK(number_text("space / cycles", "bytes", 2048) == "2.00 KiB");
}

TEST_CASE("boxes are coloured evenly between the usual ends, and have no colour without a value",
          "[derived]") {
  Viewed viewed(kCounters);
  derive(viewed, {{"cpi", "cycles / instructions", ""}});
  const FlameAnswer answer = flame_answer(viewed.views, flame_request(viewed, "cpi"), {}).value();
  REQUIRE(answer.scale);
  CHECK(answer.scale->low == 0.5);
  CHECK(answer.scale->high == 3);
  CHECK(answer.scale->low_text == "0.50");
  CHECK(answer.scale->high_text == "3.00");
  CHECK_FALSE(answer.scale->by_root);
  CHECK(answer.scale->n_without == 1);
  CHECK(*answer.boxes.color_text == std::vector<std::string>{"1.50", "1.50", "0.50", "n/a", "3.00"});
  CHECK((*answer.boxes.color)[3] == std::nullopt);
  CHECK(place_on(*answer.scale, 0.5) == 0);
  CHECK(place_on(*answer.scale, 99) == 1);
  const FlameAnswer stored = flame_answer(viewed.views, flame_request(viewed, "instructions"), {}).value();
  REQUIRE(stored.scale);
  CHECK(stored.scale->by_root);
  CHECK(stored.scale->low == 0);
  CHECK(stored.scale->high == 300);
}

TEST_CASE("boxes of a flame graph have further metrics", "[derived]") {
  Viewed viewed(kCounters);
  derive(viewed, {{"cpi", "cycles / instructions", ""}});
  FlameRequest request = flame_request(viewed, "");
  request.metrics = {"cpi"};
  const FlameAnswer answer = flame_answer(viewed.views, request, {}).value();
  REQUIRE(answer.columns.size() == 1);
  CHECK(answer.columns[0].total_text == std::vector<std::string>{"1.50", "1.50", "0.50", "n/a", "3.00"});
  CHECK(answer.columns[0].self_text == std::vector<std::string>{"n/a", "n/a", "0.50", "n/a", "3.00"});
}

TEST_CASE("in a diff the change of a ratio is that of the ratios of either side", "[derived]") {
  Viewed viewed(
      composed(Composed::diff, {"# metrics: cycles/count instructions/count\nmain;f 100 100\nmain;gone 5 5\n",
                                "# metrics: cycles/count instructions/count\nmain;f 300 200\nmain;new 4 0\n"})
          .value());
  derive(viewed, {{"cpi", "cycles / instructions", ""}, {"times", "cycles / \"cycles before\"", ""}});
  TableAnswerRequest request;
  request.open = viewed.open;
  request.spec = spec_from("flat | metric \"cycles larger\"");
  request.metrics = {"cpi", "times"};
  const TableAnswer answer = table_answer(viewed.views, request, {}).value();
  REQUIRE(answer.columns[0].before);
  REQUIRE_FALSE(answer.columns[1].before);
  std::map<std::string, std::string> rows;
  for (std::size_t i = 0; i < answer.rows.name.size(); ++i)
    rows[answer.names[answer.rows.name[i]]] =
        answer.columns[0].before->total_text[i] + " " + answer.columns[0].total_text[i] + " " +
        answer.columns[0].before->total_change[i] + ", " + answer.columns[1].total_text[i];
  CHECK(rows == std::map<std::string, std::string>{{"f", "1.00 1.50 +0.50 (+50 %), 3.00"},
                                                   {"gone", "1.00 n/a n/a, 0.00"},
                                                   {"new", "n/a n/a n/a, n/a"},
                                                   {"main", "1.00 1.52 +0.52 (+52 %), 2.90"}});
}
