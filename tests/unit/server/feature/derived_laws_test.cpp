// A metric by formula is worked out of the sums of a box or row, in every shape and under every filter: what
// an answer says is what the formula makes of the brute-force sums of the same box.
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "server/feature/metric_values.h"
#include "server/feature/table_answer.h"
#include "tests/support/box_paths.h"
#include "tests/support/catch.h"
#include "tests/support/two_metrics.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

struct Formula {
  const char* name;
  const char* formula;
  std::optional<double> (*of)(double first, double second);
};

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// Quarters are exact, and so is what these make of them, in units of the oracle or as a quotient.
const std::array<Formula, 3> kFormulas = {{
    {"ratio", "second / first", [](double first, double second) { return finite(second / first); }},
    {"share", "100 * (second - first) / (first + second)",
     [](double first, double second) { return finite(100 * (second - first) / (first + second)); }},
    {"inverse", "1 / (first / second)",
     [](double first, double second) { return finite(1 / (first / second)); }},
}};

struct Derived {
  Viewed viewed;
  explicit Derived(const Case& c) : viewed(with_two_metrics(c)) {
    std::vector<DerivedMetric> metrics;
    for (const Formula& formula : kFormulas) metrics.push_back({formula.name, formula.formula, ""});
    auto open = std::make_shared<OpenProfile>(*viewed.open);
    open->derived = std::make_shared<const DerivedMetrics>(derive_metrics(*open->profile, metrics));
    viewed.open = std::move(open);
  }
};

// Of a formula over sums; what divides by 0 has no value, as well inside of it.
std::optional<double> expected(const Formula& formula, std::int64_t first, std::int64_t second) {
  if (std::string_view(formula.name) == "inverse" && (second == 0 || first == 0)) return std::nullopt;
  return formula.of(static_cast<double>(first), static_cast<double>(second));
}

std::string compare(const Formula& formula, const std::string& where, const std::optional<Value>& found,
                    std::int64_t first, std::int64_t second) {
  const std::optional<double> should = expected(formula, first, second);
  const std::optional<double> is = found ? std::optional(as_double(*found)) : std::nullopt;
  if (is == should) return "";
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : std::string("no value");
  };
  return fmt::format("{} at {}: {}, and {} and {} make {}", formula.formula, where, text(is), first, second,
                     text(should));
}

std::string compare_boxes(const Case& c, Shape shape) {
  if (c.with_samples && c.stacks.empty()) return "";
  Derived derived(c);
  ViewSpec spec = c.spec;
  spec.shape = shape;
  spec.metric = c.seed % 2 == 0 ? "first" : "second";
  const auto selection = derived.viewed.views.selection(*derived.viewed.open, spec, {});
  if (!selection) return selection.error().message;
  std::vector<Key> focus;
  if (shape == Shape::callers || shape == Shape::callees) {
    focus = focus_keys(**selection, spec);
    if (focus.empty()) return "";
  }
  const auto layout = whole_layout(**selection, shape, focus);
  if (!layout) return layout.error().message;
  const std::vector<oracle::Path> paths = paths_of(**selection, *layout);
  const oracle::Tree first = oracle::tree_of(first_metric(c), spec),
                     second = oracle::tree_of(second_metric(c), spec);
  const auto at = [](const oracle::Tree& tree, const oracle::Path& path) {
    const auto found = tree.find(path);
    return found == tree.end() ? oracle::Sums() : found->second;
  };
  for (const Formula& formula : kFormulas) {
    const auto numbers =
        metric_of_boxes(derived.viewed.views, *derived.viewed.open, spec, formula.name, focus,
                        {layout->parent, layout->key}, BoxValuesWanted::totals_and_selves, {});
    if (!numbers) return numbers.error().message;
    for (std::size_t i = 0; i < layout->size(); ++i) {
      const oracle::Sums a = at(first, paths[i]), b = at(second, paths[i]);
      for (std::string wrong :
           {compare(formula, show(paths[i]), numbers->now.total[i], a.total, b.total),
            compare(formula, show(paths[i]) + ", self", numbers->now.self[i], a.self, b.self)})
        if (!wrong.empty()) return wrong;
    }
  }
  return "";
}

TableAnswer sorted_table(Derived& derived, const ViewSpec& spec, std::string_view sort, bool descending) {
  TableAnswerRequest request;
  request.open = derived.viewed.open;
  request.spec = spec;
  request.limit = 100'000;
  for (const Formula& formula : kFormulas) request.metrics.emplace_back(formula.name);
  request.sort_metric = sort;
  request.descending = descending;
  return table_answer(derived.viewed.views, request, {}).value();
}

}  // namespace

TEST_CASE("law: a metric by formula is the formula of the sums of every box, top-down") {
  check_law([](const Case& c) { return compare_boxes(c, Shape::top_down); });
}
TEST_CASE("law: a metric by formula is the formula of the sums of every box, bottom-up") {
  check_law([](const Case& c) { return compare_boxes(c, Shape::bottom_up); });
}
TEST_CASE("law: a metric by formula is the formula of the sums of every box, callers and callees") {
  check_law(
      [](const Case& c) { return compare_boxes(c, c.seed % 2 == 0 ? Shape::callers : Shape::callees); });
}

TEST_CASE(
    "law: a metric by formula is the formula of the sums of every row, and sorts rows without a value last") {
  check_law([](const Case& c) -> std::string {
    if (c.with_samples && c.stacks.empty()) return "";
    Derived derived(c);
    ViewSpec spec = c.spec;
    spec.shape = Shape::flat;
    spec.focus.clear();
    spec.metric = "first";
    const auto selection = derived.viewed.views.selection(*derived.viewed.open, spec, {});
    if (!selection) return selection.error().message;
    const auto first = oracle::flat_of(first_metric(c), spec),
               second = oracle::flat_of(second_metric(c), spec);
    const auto sums_of = [](const std::map<std::string, oracle::Sums>& of, const std::string& name) {
      const auto found = of.find(name);
      return found == of.end() ? oracle::Sums() : found->second;
    };
    for (const bool descending : {true, false}) {
      const TableAnswer answer = sorted_table(derived, spec, "ratio", descending);
      for (std::size_t m = 0; m < kFormulas.size(); ++m)
        for (std::size_t i = 0; i < answer.rows.key.size(); ++i) {
          const std::string name = oracle_name(**selection, static_cast<Key>(answer.rows.key[i]));
          const oracle::Sums a = sums_of(first, name), b = sums_of(second, name);
          for (std::string wrong :
               {compare(kFormulas[m], name, answer.columns[m].total[i], a.total, b.total),
                compare(kFormulas[m], name + ", self", answer.columns[m].self[i], a.self, b.self)})
            if (!wrong.empty()) return wrong;
        }
      const auto& by = answer.columns[0].self;
      for (std::size_t i = 1; i < by.size(); ++i) {
        if (!by[i]) continue;
        if (!by[i - 1]) return "a row without a value stands before one that has one";
        const double above = as_double(*by[i - 1]), below_it = as_double(*by[i]);
        if (descending ? above < below_it : above > below_it) return "the rows are not in order";
      }
    }
    return "";
  });
}
