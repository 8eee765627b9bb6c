#include "core/view/measure.h"

#include "tests/support/catch.h"

using namespace profd;

namespace {

const std::vector<MetricInfo> kMetrics = {
    {"cycles", "count"},      {"instructions", "count"}, {"cache-misses", "count"}, {"cpu", "nanoseconds"},
    {"alloc_space", "bytes"}, {"L1:u", "count"},         {"a\"b", "bytes"},         {"index", ""}};

Measure parsed(std::string_view formula) {
  auto measure = parse_measure(formula, kMetrics);
  if (!measure) FAIL(formula << ": " << measure.error().message);
  return std::move(*measure);
}

std::string wrong(std::string_view formula) {
  const auto measure = parse_measure(formula, kMetrics);
  REQUIRE_FALSE(measure);
  return measure.error().message;
}

// cycles is 12, every other metric 3.
std::optional<double> value(std::string_view formula) {
  const Measure measure = parsed(formula);
  std::vector<std::optional<double>> columns;
  for (const std::string& metric : measure.metrics) columns.push_back(metric == "cycles" ? 12 : 3);
  return value_of(measure, columns);
}

}  // namespace

TEST_CASE("a formula is worked out as it is read", "[measure]") {
  CHECK(value("cycles") == 12);
  CHECK(value("cycles / instructions") == 4);
  CHECK(value("1000 * \"cache-misses\" / instructions") == 1000);
  CHECK(value("cycles - instructions - instructions") == 6);
  CHECK(value("cycles / instructions / 2") == 2);
  CHECK(value("cycles - 2 * instructions") == 6);
  CHECK(value("(cycles - instructions) * 2") == 18);
  CHECK(value("-cycles + instructions") == -9);
  CHECK(value("--cycles") == 12);
  CHECK(value("cycles*-2") == -24);
  CHECK(value("\tL1:u+cycles ") == 15);
  CHECK(value(".5*cycles") == 6);
  CHECK(value("1e3 * cycles") == 12000);
  CHECK(value("\"a\\\"b\"") == 3);
}

TEST_CASE("what is no number has no value", "[measure]") {
  CHECK(value("cycles / (instructions - cpu / cpu * instructions)") == std::nullopt);
  CHECK(value("1e300 * 1e300 * cycles") == std::nullopt);
  CHECK(value("1 / 0") == std::nullopt);
  const Measure ratio = parsed("cycles / instructions");
  CHECK(ratio.metrics == std::vector<std::string>{"cycles", "instructions"});
  CHECK(value_of(ratio, std::vector<std::optional<double>>{12, std::nullopt}) == std::nullopt);
  CHECK(value_of(ratio, std::vector<std::optional<double>>{12, 0}) == std::nullopt);
  CHECK(value_of(ratio, std::vector<std::optional<double>>{0, 12}) == 0);
}

TEST_CASE("a metric that is named twice is one column", "[measure]") {
  const Measure measure = parsed("(cycles - instructions) / cycles");
  CHECK(measure.metrics.size() == 2);
}

TEST_CASE("units come with the formula", "[measure]") {
  const auto unit = [](std::string_view formula) { return unit_text(parsed(formula).unit); };
  CHECK(unit("cpu") == "nanoseconds");
  CHECK(unit("cycles / instructions") == "");
  CHECK(unit("cpu / alloc_space") == "nanoseconds / bytes");
  CHECK(unit("1 / cpu") == "1 / nanoseconds");
  CHECK(unit("cpu * cpu / alloc_space / alloc_space") == "nanoseconds^2 / bytes^2");
  CHECK(unit("alloc_space * cpu") == "bytes nanoseconds");
  CHECK(unit("3 * 4") == "");
  CHECK(wrong("cpu + alloc_space") ==
        "nanoseconds and bytes are of two units and have no sum at character 5 of the formula");
  CHECK(
      wrong("cpu - 1") ==
      "nanoseconds and a plain number are of two units and have no difference at character 5 of the formula");
  CHECK(unit("cpu / cpu + 1") == "");
}

TEST_CASE("only sums of metrics are sums of their parts", "[measure]") {
  for (const std::string_view formula :
       {"cpu", "-cpu", "2 * cpu", "cpu / 2", "cycles - instructions", "3 * (cycles - instructions / 4)"})
    CHECK(parsed(formula).additive);
  for (const std::string_view formula : {"1", "2 / cpu", "cpu * cpu", "cycles / instructions",
                                         "cpu / cpu + 1", "cycles + cycles * (cpu / cpu)", "2 * 3"})
    CHECK_FALSE(parsed(formula).additive);
}

TEST_CASE("a text that is no formula is refused with its place", "[measure]") {
  CHECK(wrong("") == "a metric or a number is expected at character 1 of the formula");
  CHECK(wrong("cycles +") == "a metric or a number is expected at character 9 of the formula");
  CHECK(wrong("* cycles") == "a metric or a number is expected at character 1 of the formula");
  CHECK(wrong("cycles instructions") == "one of + - * / is expected at character 8 of the formula");
  CHECK(wrong("2cycles") == "one of + - * / is expected at character 2 of the formula");
  CHECK(wrong("(cycles") == "the bracket is not closed at character 1 of the formula");
  CHECK(wrong("cycles)") == "the bracket was not opened at character 7 of the formula");
  CHECK(wrong("()") == "a metric or a number is expected at character 2 of the formula");
  CHECK(wrong("\"cycles") == "the quote is not closed at character 1 of the formula");
  CHECK(wrong("1e999") == "the number cannot be read at character 1 of the formula");
  CHECK(wrong("cycles % 2") == "one of + - * / is expected at character 8 of the formula");
}

TEST_CASE("a formula may be nested as deep as it is long, and no longer than 4 KiB", "[measure]") {
  const auto nested = [](std::size_t n) {
    std::string text;
    for (std::size_t i = 0; i < n; ++i) text += '(';
    text += "cycles";
    for (std::size_t i = 0; i < n; ++i) text += ')';
    return text;
  };
  CHECK(value(nested(2000)) == 12);
  std::string negated;
  for (int i = 0; i < 4000; ++i) negated += '-';
  CHECK(value(negated += "cycles") == 12);
  CHECK(wrong(nested(10'000)) == "a formula ends at character 4096 at the latest; this one has 20006");
  CHECK(parse_measure(nested(10'000), kMetrics).error().code == ErrorCode::limit);
  CHECK(parse_measure(nested(10'000), kMetrics).error().offset == 4096);
  std::string opened(4000, '(');
  CHECK(wrong(opened) == "a metric or a number is expected at character 4001 of the formula");
  CHECK(wrong(opened += "cycles") == "the bracket is not closed at character 4000 of the formula");
  CHECK(wrong("cycles" + std::string(4000, ')')) ==
        "the bracket was not opened at character 7 of the formula");
}

TEST_CASE("a metric that is not there is refused with those that are", "[measure]") {
  CHECK(wrong("cpu / cyles") ==
        "there is no metric cyles at character 7 of the formula (did you mean cycles?); there is cycles, "
        "instructions, \"cache-misses\", cpu, alloc_space, L1:u, \"a\\\"b\", index");
  CHECK(parse_measure("cpu / cyles", kMetrics).error().offset == 6);
  CHECK(wrong("cache-misses").ends_with("; names with other signs stand in quotes"));
  CHECK_FALSE(wrong("speed").ends_with("; names with other signs stand in quotes"));
  CHECK(wrong(std::string(3000, 'x')).size() < 400);
}

TEST_CASE("a metric without a unit is a plain number", "[measure]") {
  CHECK(unit_text(parsed("index + 1").unit).empty());
  CHECK(unit_text(parsed("cpu / index").unit) == "nanoseconds");
}

TEST_CASE("names of metrics can be typed as they are told", "[measure]") {
  for (const MetricInfo& metric : kMetrics)
    CHECK(parsed(name_in_formula(metric.name)).metrics == std::vector<std::string>{metric.name});
}
