#include "core/model/unsampled.h"

#include <algorithm>
#include <cmath>

#include "core/support/sums.h"

namespace profd {
namespace {

// By context, self less what the samples have; empty when nothing is left.
template <class T>
std::vector<Value> rest_of(const Profile& profile, std::size_t metric) {
  const SampleTable& samples = *profile.samples();
  const auto& in_samples = std::get<Column<T>>(samples.values[metric]);
  T sum{};
  double magnitudes = 0;
  for (const T value : in_samples) {
    sum = wrapping_add(sum, finite(value));
    magnitudes += std::abs(static_cast<double>(finite(value)));
  }
  const T total = std::get<T>(profile.total(MetricId{metric}));
  // Sums of fractions in another order differ in their last digits.
  const double noise = std::is_same_v<T, double> ? 1e-9 * magnitudes : 0;
  if (total == sum || std::abs(static_cast<double>(subtract(total, sum, false))) <= noise) return {};
  std::vector<T> left(profile.tree().size(), T{});
  const SelfTable& self = profile.self();
  const auto& values = std::get<Column<T>>(self.values[metric]);
  for (std::size_t row = 0; row < values.size(); ++row) {
    T& at = left[self.contexts[row]];
    at = wrapping_add(at, finite(values[row]));
  }
  for (std::size_t row = 0; row < in_samples.size(); ++row) {
    T& at = left[samples.context[row]];
    at = subtract(at, finite(in_samples[row]), false);
  }
  for (T& value : left)
    if (std::abs(static_cast<double>(value)) <= noise) value = T{};
  return {left.begin(), left.end()};
}

}  // namespace

UnsampledValues unsampled_values(const Profile& profile) {
  UnsampledValues out;
  if (profile.samples() == nullptr) return out;
  const std::size_t n_metrics = profile.metrics().size();
  std::vector<std::vector<Value>> rest(n_metrics);
  for (std::size_t m = 0; m < n_metrics; ++m) {
    if (profile.metrics()[m].saturated) continue;
    const bool whole = std::holds_alternative<std::int64_t>(profile.total(MetricId{m}));
    rest[m] = whole ? rest_of<std::int64_t>(profile, m) : rest_of<double>(profile, m);
  }
  if (std::all_of(rest.begin(), rest.end(), [](const auto& column) { return column.empty(); })) return out;
  out.values.resize(n_metrics);
  for (std::uint32_t context = 0; context < profile.tree().size(); ++context) {
    if (std::none_of(rest.begin(), rest.end(),
                     [&](const auto& column) { return !column.empty() && as_double(column[context]) != 0; }))
      continue;
    out.contexts.push_back(context);
    for (std::size_t m = 0; m < n_metrics; ++m) {
      const bool whole = std::holds_alternative<std::int64_t>(profile.total(MetricId{m}));
      const Value nothing = whole ? Value(std::int64_t{0}) : Value(0.0);
      out.values[m].push_back(rest[m].empty() ? nothing : rest[m][context]);
    }
  }
  return out;
}

}  // namespace profd
