// What people write of numbers: rules of the gate and formulas of metrics. What parses says the same again,
// and has a value or none.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/compare/gate_rule.h"
#include "core/view/measure.h"

using namespace profd;

namespace {

void check_rule(std::string_view text) {
  const auto rule = parse_gate_rule(text);
  if (!rule) {
    if (rule.error().message.empty()) std::abort();
    return;
  }
  const std::string canonical = to_text(*rule);
  // The canonical text may be longer, by quotes.
  const auto again = parse_gate_rule(canonical);
  const bool too_long = !again && again.error().code == ErrorCode::limit;
  if (!too_long && (!again || !(*again == *rule) || to_text(*again) != canonical)) {
    std::fprintf(stderr, "%s\n", canonical.c_str());
    std::abort();
  }
  static_cast<void>(limit_in(rule->limit, "nanoseconds"));
  for (const NamePattern& pattern : rule->patterns)
    if (pattern.kind == NamePattern::Kind::glob && !matches_glob(pattern.text, pattern.text)) std::abort();
}

void check_formula_text(std::string_view text) {
  // Names of some metrics, with units that add up and that do not.
  std::vector<MetricInfo> metrics;
  for (const auto& [name, unit] :
       {std::pair{"a", "nanoseconds"}, std::pair{"cycles", "nanoseconds"}, std::pair{"instructions", "count"},
        std::pair{"cache-misses", "count"}, std::pair{"z", "bytes"}}) {
    MetricInfo& metric = metrics.emplace_back();
    metric.name = name;
    metric.unit = unit;
  }
  const bool is_formula = check_formula(text).has_value();
  const auto measure = parse_measure(text, metrics);
  if (measure && !is_formula) std::abort();
  if (!measure) {
    if (measure.error().message.empty()) std::abort();
    return;
  }
  for (const double value : {0.0, 1.0, -3.5, 1e300}) {
    const std::vector<std::optional<double>> columns(measure->metrics.size(), value);
    const auto result = value_of(*measure, columns);
    if (result && !std::isfinite(*result)) std::abort();
  }
  for (const UnitPower& unit : measure->unit)
    if (unit.power == 0) std::abort();
  static_cast<void>(unit_text(measure->unit));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_rule(text);
  check_formula_text(text);
  return 0;
}
