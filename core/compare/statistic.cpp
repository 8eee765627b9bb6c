#include "core/compare/statistic.h"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "core/compare/gate_rule.h"
#include "core/support/text.h"

namespace profd {
namespace {

struct Named {
  std::string_view name;
  Statistic statistic;
};

using Kind = Statistic::Kind;
// The first of several names is the one that is written.
constexpr std::array kNamed = {
    Named{"sum", {Kind::sum}},
    Named{"mean", {Kind::mean}},
    Named{"min", {Kind::min}},
    Named{"least", {Kind::min}},
    Named{"max", {Kind::max}},
    Named{"most", {Kind::max}},
    Named{"median", {Kind::percentile, 50}},
    Named{"deviation", {Kind::deviation}},
    Named{"variation", {Kind::variation}},
    Named{"imbalance", {Kind::imbalance}},
    Named{"uneven", {Kind::imbalance}},
    Named{"lost", {Kind::lost}},
};

constexpr std::size_t kMaxCondition = 100;

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

Result<Statistic> parse_statistic(std::string_view text) {
  for (const Named& named : kNamed)
    if (named.name == text) return named.statistic;
  if (text.size() > 1 && text.front() == 'p' && text[1] >= '0' && text[1] <= '9')
    if (const auto percent = number_of(text.substr(1)); percent && *percent >= 0 && *percent <= 100)
      return Statistic{Kind::percentile, *percent};
  return fail(ErrorCode::invalid,
              fmt::format("\"{}\" is no statistic: sum, mean, min, max, median, p0 to p100, deviation, "
                          "variation, imbalance or lost",
                          cut_bytes(std::string(text), kMaxCondition)));
}

std::string to_text(const Statistic& statistic) {
  for (const Named& named : kNamed)
    if (named.statistic.kind == statistic.kind &&
        (statistic.kind != Kind::percentile || named.statistic.percent == statistic.percent))
      return std::string(named.name);
  return fmt::format("p{}", statistic.percent);
}

std::optional<double> value_of(const Statistic& statistic, const Spread& spread, ValuesByInput values) {
  switch (statistic.kind) {
    case Kind::sum:
      return spread.sum;
    case Kind::mean:
      return spread.mean;
    case Kind::min:
      return spread.min;
    case Kind::max:
      return spread.max;
    case Kind::percentile:
      return percentile(values, statistic.percent);
    case Kind::deviation:
      return spread.deviation;
    case Kind::variation:
      return spread.deviation && spread.mean > 0 ? std::optional(*spread.deviation / spread.mean)
                                                 : std::nullopt;
    case Kind::imbalance:
      return spread.imbalance;
    case Kind::lost:
      return spread.lost;
  }
  return std::nullopt;
}

Result<StatisticCondition> parse_statistic_condition(std::string_view text, std::string_view metric_unit) {
  const auto wrong = [&](std::size_t at, std::string_view what) {
    return fail(ErrorCode::invalid, fmt::format("condition: {} (at character {})", what, at + 1));
  };
  if (text.size() > kMaxCondition)
    return fail(ErrorCode::limit, fmt::format("condition: it is longer than {} bytes", kMaxCondition));
  const std::size_t sign = text.find_first_of("<>=");
  if (sign == text.npos || text.substr(sign + 1, 1) != "=" || text[sign] == '=')
    return wrong(sign == text.npos ? text.size() : sign,
                 "after the statistic stands `>=` or `<=`, as in `lost >= 5ms`");
  StatisticCondition out;
  const auto statistic = parse_statistic(trimmed(text.substr(0, sign)));
  if (!statistic) return wrong(0, statistic.error().message);
  out.statistic = *statistic;
  out.at_least = text[sign] == '>';
  const std::string_view limit = trimmed(text.substr(sign + 2));
  const std::size_t at = sign + 2 + text.substr(sign + 2).find_first_not_of(" \t");
  const std::size_t digits = std::min(limit.find_first_not_of("0123456789.-"), limit.size());
  const auto number = number_of(limit.substr(0, digits));
  if (!number)
    return wrong(limit.empty() ? text.size() : at, "a limit is a number and its unit: 5ms, 2MB or 10%");
  const std::string_view unit = trimmed(limit.substr(digits));
  if (is_ratio(out.statistic)) {
    if (!unit.empty() && unit != "%") return wrong(at + digits, "it is a part of the mean: 10% or 0.1");
    out.limit = unit.empty() ? *number : *number / 100;
    return out;
  }
  GateLimit absolute{GateLimit::Kind::absolute, *number, std::string(unit)};
  const auto in_metric = limit_in(absolute, metric_unit);
  if (!in_metric) return wrong(at + digits, in_metric.error().message);
  out.limit = *in_metric;
  return out;
}

bool holds(const StatisticCondition& condition, const Spread& spread, ValuesByInput values) {
  const std::optional<double> value = value_of(condition.statistic, spread, values);
  return value && (condition.at_least ? *value >= condition.limit : *value <= condition.limit);
}

}  // namespace profd
