#include "core/view/formula_columns.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/support/big_vector.h"

namespace profd {
namespace {

// A measure that adds up is a sum of metrics, each times a number.
struct Term {
  MetricId metric;
  double factor;
};

std::vector<Term> terms_of(const Profile& profile, const Measure& measure) {
  std::vector<Term> terms;
  std::vector<std::optional<double>> only(measure.metrics.size(), 0.0);
  for (std::size_t i = 0; i < only.size(); ++i) {
    only[i] = 1;
    terms.push_back({*profile.find_metric(measure.metrics[i]), value_of(measure, only).value_or(0)});
    only[i] = 0;
  }
  return terms;
}

bool is_whole(double value) {
  constexpr double kMostExact = 9007199254740992;  // 2^53
  return std::fabs(value) <= kMostExact && std::nearbyint(value) == value;
}

// `columns` by metric, each as long as the sums.
BigVector<double> sums_of(const std::vector<ValueColumn>& columns, std::span<const Term> terms) {
  BigVector<double> sums;
  for (const Term& term : terms)
    std::visit(
        [&](const auto& column) {
          if (sums.empty()) sums.assign(column.size(), 0);  // resize() leaves them as they are
          for (std::size_t i = 0; i < column.size(); ++i)
            sums[i] += term.factor * static_cast<double>(column[i]);
        },
        columns[term.metric.v]);
  return sums;
}

double total_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values)
    if (std::isfinite(value)) sum += value;
  return sum;
}

ValueColumn to_column(BigVector<double> values, bool whole) {
  if (!whole) return Column(std::move(values));
  BigVector<std::int64_t> out(values.size());
  std::transform(values.begin(), values.end(), out.begin(),
                 [](double value) { return static_cast<std::int64_t>(value); });
  return Column(std::move(out));
}

const void* data_of(const ValueColumn& column) {
  return std::visit([](const auto& values) -> const void* { return values.data(); }, column);
}

// All numbers of a metric are of one type.
struct Numbers {
  BigVector<double> self, samples, functions, calls;
  bool samples_are_self = false;  // a row of the one is a row of the other: they share their columns
  bool functions_stated = false, calls_stated = false;

  [[nodiscard]] bool are_whole() const {
    for (const BigVector<double>* values : {&self, &samples, &functions, &calls})
      if (!std::all_of(values->begin(), values->end(), is_whole)) return false;
    return is_whole(total_of(self));
  }
};

// Stated only where all that it is made of is.
bool all_stated(const std::vector<ValueColumn>& totals, std::span<const Term> terms) {
  return std::all_of(terms.begin(), terms.end(),
                     [&](const Term& term) { return is_stated(totals, term.metric); });
}

Numbers numbers_of(const ProfileData& data, std::span<const Term> terms) {
  Numbers out;
  out.self = sums_of(data.self.values, terms);
  if (data.samples) {
    out.samples_are_self = std::all_of(terms.begin(), terms.end(), [&](const Term& term) {
      return data_of(data.samples->values[term.metric.v]) == data_of(data.self.values[term.metric.v]);
    });
    if (!out.samples_are_self) out.samples = sums_of(data.samples->values, terms);
  }
  if (!data.stated) return out;
  out.functions_stated = all_stated(data.stated->functions.totals, terms);
  if (out.functions_stated) out.functions = sums_of(data.stated->functions.totals, terms);
  out.calls_stated = all_stated(data.stated->calls.totals, terms);
  if (out.calls_stated) out.calls = sums_of(data.stated->calls.totals, terms);
  return out;
}

void add_column(ProfileData& data, const Profile& profile, const ProfileMeasure& measure) {
  const std::vector<Term> terms = terms_of(profile, measure.measure);
  const std::size_t n_metrics = data.metrics.size();
  Numbers numbers = numbers_of(data, terms);
  const bool whole = numbers.are_whole();
  const double total = total_of(numbers.self);
  data.totals.push_back(whole ? Value(static_cast<std::int64_t>(total)) : Value(total));
  ValueColumn self = to_column(std::move(numbers.self), whole);
  if (data.samples)
    data.samples->values.push_back(numbers.samples_are_self ? self
                                                            : to_column(std::move(numbers.samples), whole));
  data.self.values.push_back(std::move(self));
  if (data.stated) {
    const auto add = [&](std::vector<ValueColumn>& totals, bool stated, BigVector<double>& values) {
      totals.resize(n_metrics);
      totals.push_back(stated ? to_column(std::move(values), whole) : ValueColumn());
    };
    add(data.stated->functions.totals, numbers.functions_stated, numbers.functions);
    add(data.stated->calls.totals, numbers.calls_stated, numbers.calls);
  }
  const std::string& unit = measure.metric.unit;
  MetricInfo& info = data.metrics.emplace_back();
  info.name = measure.metric.name;
  info.unit = unit.empty() ? unit_text(measure.measure.unit) : normalize_unit(unit);
  info.saturated = std::any_of(terms.begin(), terms.end(),
                               [&](const Term& term) { return data.metrics[term.metric.v].saturated; });
}

}  // namespace

ProfilePtr with_formula_columns(const ProfilePtr& profile, std::span<const ProfileMeasure> measures) {
  const auto adds_up = [](const ProfileMeasure& measure) { return measure.measure.additive; };
  if (profile->composition() != nullptr || std::none_of(measures.begin(), measures.end(), adds_up))
    return profile;
  ProfileData data = profile->data();
  for (const ProfileMeasure& measure : measures)
    if (adds_up(measure)) add_column(data, *profile, measure);
  return std::make_shared<const Profile>(std::move(data));
}

}  // namespace profd
