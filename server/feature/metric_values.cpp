#include "server/feature/metric_values.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/model/composition.h"
#include "core/view/resolve.h"
#include "server/feature/text.h"
#include "server/feature/value_texts.h"

namespace profd {
namespace {

ViewSpec of_metric(const ViewSpec& spec, std::string_view name) {
  ViewSpec other = spec;
  other.metric = name;
  return other;
}

// What it is worked out of, by name; of a stored metric that one.
std::vector<std::string> parts_of(const OpenProfile& open, std::string_view name) {
  const ProfileMeasure* derived = open.derived_metric(name);
  if (derived == nullptr) return {std::string(name)};
  std::vector<std::string> parts = derived->measure.metrics;
  if (derived->before)
    parts.insert(parts.end(), derived->before->metrics.begin(), derived->before->metrics.end());
  return parts;
}

const std::string& stored_unit(const Profile& profile, std::string_view name) {
  return profile.metrics()[profile.find_metric(name)->v].unit;
}

// Units of a formula that people have short words for.
std::string unit_in_text(const std::vector<UnitPower>& unit, int sign) {
  std::string out;
  for (const UnitPower& one : unit) {
    const int power = sign * one.power;
    if (power <= 0 || one.unit == "count") continue;
    out += (out.empty() ? "" : " ") + unit_name(one.unit);
    if (power > 1) out += fmt::format("^{}", power);
  }
  return out;
}

std::string derived_text(const ProfileMeasure& derived, double value) {
  if (!derived.metric.unit.empty()) {
    const std::string unit = normalize_unit(derived.metric.unit);
    const bool known = unit == "nanoseconds" || unit == "bytes" || unit == "count";
    return known ? format_value(Value{value}, unit) : format_ratio(value) + " " + derived.metric.unit;
  }
  const std::vector<UnitPower>& unit = derived.measure.unit;
  const std::string over = unit_in_text(unit, 1), under = unit_in_text(unit, -1);
  const std::string per = under.empty() ? "" : "/" + under;
  const bool counts = std::any_of(unit.begin(), unit.end(),
                                  [](const UnitPower& one) { return one.unit == "count" && one.power == 1; });
  if (over.empty() && counts && under.empty()) return format_value(Value{value}, "count");
  if (over.empty()) return format_ratio(value) + per;
  const bool one_power = std::count_if(unit.begin(), unit.end(), [](const UnitPower& one) {
                           return one.power > 0 && one.unit != "count";
                         }) == 1;
  const auto top = std::find_if(unit.begin(), unit.end(),
                                [](const UnitPower& one) { return one.power == 1 && one.unit != "count"; });
  if (one_power && top != unit.end()) return format_value(Value{value}, top->unit) + per;
  return format_ratio(value) + " " + over + per;
}

using Known = std::vector<std::optional<Value>>;

// Row by row of the columns of its metrics, which are in their order.
Known worked_out(const Measure& measure, const std::vector<const Known*>& of) {
  Known out;
  std::vector<std::optional<double>> row(of.size());
  for (std::size_t i = 0; i < of.front()->size(); ++i) {
    for (std::size_t m = 0; m < of.size(); ++m) {
      const std::optional<Value>& value = (*of[m])[i];
      row[m] = value && std::isfinite(as_double(*value)) ? std::optional(as_double(*value)) : std::nullopt;
    }
    const std::optional<double> value = value_of(measure, row);
    out.push_back(value ? std::optional<Value>(*value) : std::nullopt);
  }
  return out;
}

MetricNumbers worked_out(const Measure& measure, const std::vector<MetricNumbers>& of) {
  std::vector<const Known*> self, total;
  for (const MetricNumbers& metric : of) {
    self.push_back(&metric.self);
    total.push_back(&metric.total);
  }
  return {worked_out(measure, self), worked_out(measure, total)};
}

// `stored(name)` gives the numbers of a stored metric; `name` is known to be one, stored or by formula.
template <class Stored>
Result<SidedNumbers> numbers_of(const OpenProfile& open, std::string_view name, Stored stored) {
  PROFD_CHECK(check_metric(open, name));
  SidedNumbers out;
  const ProfileMeasure* derived = open.derived_metric(name);
  if (derived == nullptr) {
    PROFD_TRY(out.now, stored(name, false));
    return out;
  }
  const auto side = [&](const Measure& measure) -> Result<MetricNumbers> {
    std::vector<MetricNumbers> parts;
    for (const std::string& part : measure.metrics) {
      PROFD_TRY(MetricNumbers numbers, stored(part, true));
      parts.push_back(std::move(numbers));
    }
    return worked_out(measure, parts);
  };
  PROFD_TRY(out.now, side(derived->measure));
  if (derived->before) {
    PROFD_TRY(out.before, side(*derived->before));
  }
  return out;
}

Known column_of(std::span<const Value> values) {
  Known out;
  for (const Value& value : values)
    out.push_back(std::isfinite(as_double(value)) ? std::optional(value) : std::nullopt);
  return out;
}

}  // namespace

Result<void> check_metric(const OpenProfile& open, std::string_view name) {
  if (open.derived_metric(name) != nullptr || open.profile->find_metric(name)) return {};
  if (open.derived)
    for (const UnfitMetric& unfit : open.derived->unfit)
      if (unfit.metric.name == name)
        return fail(ErrorCode::invalid,
                    fmt::format("{} is {}, and {}", name, unfit.metric.formula, unfit.why));
  PROFD_CHECK(resolve_metric(*open.profile, name));
  return {};
}

Result<void> check_width(const OpenProfile& open, std::string_view name) {
  const ProfileMeasure* derived = open.derived_metric(name);
  if (derived == nullptr) return {};
  if (!derived->measure.additive)
    return fail(ErrorCode::invalid,
                fmt::format("{} is {}, which does not add up: nothing is as wide as it. It can be a column, "
                            "what rows are sorted by, or a colour",
                            name, derived->metric.formula));
  return fail(ErrorCode::unsupported, fmt::format("{} is {}, which these profiles were put together without: "
                                                  "no view of them is as wide. It can be a column, "
                                                  "what rows are sorted by, or a colour",
                                                  name, derived->metric.formula));
}

std::string metric_text(const ProfileMeasure& derived, const std::optional<Value>& value) {
  return value ? derived_text(derived, as_double(*value)) : std::string(kNotAvailable);
}

std::string metric_text(const OpenProfile& open, std::string_view name, const std::optional<Value>& value) {
  const ProfileMeasure* derived = open.derived_metric(name);
  return derived != nullptr ? metric_text(*derived, value)
                            : format_value(value, stored_unit(*open.profile, name));
}

std::string metric_unit(const ProfileMeasure& derived) {
  return derived.metric.unit.empty() ? unit_name(unit_text(derived.measure.unit)) : derived.metric.unit;
}

std::string metric_unit(const OpenProfile& open, std::string_view name) {
  const ProfileMeasure* derived = open.derived_metric(name);
  return derived != nullptr ? metric_unit(*derived) : unit_name(stored_unit(*open.profile, name));
}

std::string metric_change(const OpenProfile& open, std::string_view name, const std::optional<Value>& before,
                          const std::optional<Value>& after) {
  if (!before || !after) return std::string(kNotAvailable);
  const double b = as_double(*before), a = as_double(*after);
  const std::string sign = a > b ? "+" : a < b ? "-" : "±";
  const std::string relative = relative_change(b, a);
  return sign + metric_text(open, name, Value{std::fabs(a - b)}) +
         (relative.empty() ? "" : " (" + relative + ")");
}

std::vector<MetricTexts> derived_texts(const OpenProfile& open,
                                       const std::function<std::optional<OneRow>(MetricId)>& of) {
  struct Numbers {
    std::optional<Value> self, total;
  };
  const auto numbers_of = [&](const Measure& measure) {
    std::vector<std::optional<double>> self, total;
    for (const std::string& metric : measure.metrics) {
      const std::optional<OneRow> row = of(*open.profile->find_metric(metric));
      const auto known = [&](const Value& value) {
        return std::isfinite(as_double(value)) ? std::optional(as_double(value)) : std::nullopt;
      };
      self.push_back(row ? known(row->self) : 0);
      total.push_back(row ? known(row->total) : 0);
    }
    const auto value = [&](const std::vector<std::optional<double>>& columns) {
      const std::optional<double> number = value_of(measure, columns);
      return number ? std::optional<Value>(*number) : std::nullopt;
    };
    return Numbers{value(self), value(total)};
  };
  std::vector<MetricTexts> out;
  if (!open.derived) return out;
  for (const ProfileMeasure& derived : open.derived->known) {
    const std::string& name = derived.metric.name;
    if (open.derived_metric(name) == nullptr) continue;  // a metric of the profile, which is told as such
    const Numbers now = numbers_of(derived.measure);
    MetricTexts& texts =
        out.emplace_back(MetricTexts{name, metric_text(derived, now.self), metric_text(derived, now.total)});
    if (!derived.before) continue;
    const Numbers before = numbers_of(*derived.before);
    texts.before = MetricTexts::Before{metric_text(derived, before.self), metric_text(derived, before.total),
                                       metric_change(open, name, before.self, now.self),
                                       metric_change(open, name, before.total, now.total)};
  }
  return out;
}

std::optional<Value> metric_total(const Profile& profile, const Measure& measure) {
  std::vector<std::optional<double>> totals;
  for (const std::string& name : measure.metrics)
    totals.emplace_back(as_double(profile.total(*profile.find_metric(name))));
  const std::optional<double> value = value_of(measure, totals);
  return value ? std::optional<Value>(*value) : std::nullopt;
}

void add_needs_of_metric(const OpenProfile& open, const ViewSpec& spec, std::string_view name, Needs& needs) {
  for (const std::string& part : parts_of(open, name))
    for (Need& need : needs_of_shape(of_metric(spec, part))) needs.push_back(std::move(need));
}

Result<SidedNumbers> metric_of_keys(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                    std::string_view name, std::span<const Key> keys, const StopToken& stop) {
  return numbers_of(open, name, [&](std::string_view metric, bool is_part) -> Result<MetricNumbers> {
    PROFD_TRY(const KeyValues values, views.key_values(open, of_metric(spec, metric), keys, stop));
    MetricNumbers out{column_of(values.self), column_of(values.total)};
    // A row that another metric has not is nothing there, and 0 in a sum.
    for (std::size_t i = 0; !is_part && i < keys.size(); ++i)
      if (values.present[i] == 0) out.self[i] = out.total[i] = std::nullopt;
    return out;
  });
}

Result<SidedNumbers> metric_of_boxes(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                     std::string_view name, const std::vector<Key>& focus,
                                     const BoxPaths& boxes, BoxValuesWanted wanted, const StopToken& stop) {
  return numbers_of(open, name, [&](std::string_view metric, bool) -> Result<MetricNumbers> {
    PROFD_TRY(const SelectionPtr selection, views.selection(open, of_metric(spec, metric), stop));
    PROFD_TRY(const BoxValues values, values_of_boxes(*selection, spec.shape, focus, boxes, wanted, stop));
    return MetricNumbers{column_of(values.self), column_of(values.total)};
  });
}

Result<SidedNumbers> metric_of_rows(const OpenProfile& open, std::string_view name,
                                    const StoredRows& stored) {
  return numbers_of(open, name, [&](std::string_view part, bool) -> Result<MetricNumbers> {
    const auto [self, total] = stored(*open.profile->find_metric(part));
    return MetricNumbers{column_of(self), column_of(total)};
  });
}

MetricRows metric_rows(const OpenProfile& open, std::string_view name, SidedNumbers numbers) {
  MetricRows rows;
  rows.metric = name;
  rows.unit = metric_unit(open, name);
  const auto texts = [&](const std::vector<std::optional<Value>>& column) {
    return texts_of(column,
                    [&](const std::optional<Value>& value) { return metric_text(open, name, value); });
  };
  rows.self_text = texts(numbers.now.self);
  rows.total_text = texts(numbers.now.total);
  rows.n_without =
      static_cast<std::size_t>(std::count(numbers.now.total.begin(), numbers.now.total.end(), std::nullopt));
  if (numbers.before) {
    MetricRows::Before& before = rows.before.emplace();
    before.self_text = texts(numbers.before->self);
    before.total_text = texts(numbers.before->total);
    for (std::size_t i = 0; i < rows.self_text.size(); ++i) {
      before.self_change.push_back(metric_change(open, name, numbers.before->self[i], numbers.now.self[i]));
      before.total_change.push_back(
          metric_change(open, name, numbers.before->total[i], numbers.now.total[i]));
    }
    before.self = std::move(numbers.before->self);
    before.total = std::move(numbers.before->total);
  }
  rows.self = std::move(numbers.now.self);
  rows.total = std::move(numbers.now.total);
  return rows;
}

}  // namespace profd
