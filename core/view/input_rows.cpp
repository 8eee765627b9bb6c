#include "core/view/input_rows.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/support/sums.h"
#include "core/support/two_sides.h"

namespace profd {
namespace {

// How often an input's value counts in a metric of the composed profile; 0: not at all.
double weight_of(const Composition& composition, const ComposedInput& input, const ComposedMetric& metric) {
  const std::size_t n_before = composition.n_before();
  switch (metric.role) {
    case MetricRole::sum:
      return 1;
    case MetricRole::before:
      return input.before ? composition.of[metric.of].scale / static_cast<double>(n_before) : 0;
    case MetricRole::after:
      return input.before ? 0 : 1 / static_cast<double>(composition.inputs.size() - n_before);
    case MetricRole::change:
    case MetricRole::larger:
    case MetricRole::difference:
      return 0;  // made of the two above
  }
  return 0;
}

// What an input calls the metric.
std::optional<MetricId> metric_in(const Composition& composition, std::size_t input, std::uint32_t of) {
  const std::uint32_t own = composition.of[of].metric_of[input];
  return own == kNone ? std::nullopt : std::optional(MetricId{own});
}

template <class T>
T weighted(T value, double weight) {
  return weight == 1 ? value : static_cast<T>(static_cast<double>(value) * weight);
}

template <class T>
T as(const Value& value) {
  return std::visit([](auto v) { return static_cast<T>(v); }, value);
}

// One metric of the composed profile, by context, and what is excluded of it.
template <class T>
struct Filtered {
  std::vector<T> self;
  T excluded{};
};

template <class T>
Filtered<T> sum_of(const Composition& composition, const std::vector<RowsPtr>& inputs,
                   const ComposedMetric& metric, std::size_t n_contexts, bool& fits) {
  Filtered<T> out;
  out.self.resize(n_contexts, T{});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const double weight = weight_of(composition, composition.inputs[i], metric);
    const std::optional<MetricId> own = metric_in(composition, i, metric.of);
    if (weight == 0 || !own) continue;
    const Rows& rows = *inputs[i];
    const BigVector<std::uint32_t>& context_of = composition.inputs[i].context_of;
    std::visit(
        [&](const auto& values) {
          for (std::size_t row = 0; row < values.size(); ++row)
            fits = add_saturating(out.self[context_of[rows.self.contexts[row]]],
                                  weighted(static_cast<T>(finite(values[row])), weight)) &&
                   fits;
        },
        rows.self.values[own->v]);
    if (!rows.excluded.empty()) add_saturating(out.excluded, weighted(as<T>(rows.excluded[own->v]), weight));
  }
  return out;
}

template <class T>
T function_of(MetricRole role, T before, T after, bool& fits) {
  if (role == MetricRole::larger) return larger_of(before, after);
  return role == MetricRole::change ? change_between(before, after, fits)
                                    : difference_of(before, after, fits);
}

}  // namespace

Result<void> take_rows_of_inputs(Rows& rows, StopToken stop) {
  const Profile& profile = *rows.profile;
  const Composition& composition = *profile.composition();
  std::vector<RowsPtr> inputs;
  std::vector<std::size_t> n_warned(rows.filters.size(), 0);
  std::vector<std::string> warnings;
  for (const ComposedInput& input : composition.inputs) {
    if (!input.profile)
      return fail(
          ErrorCode::invalid,
          "threads, labels and times are those of the inputs, which are not kept in a profile of so many");
    auto made = make_rows(input.profile, rows.filters, stop);
    if (!made) {
      made.error().message = fmt::format("{}: {}", input.name, made.error().message);
      return tl::unexpected<Error>(std::move(made.error()));
    }
    for (const std::string& warning : (*made)->warnings) warnings.push_back(warning);
    inputs.push_back(std::move(*made));
  }
  // A filter that matches something in one input is no mistake.
  std::sort(warnings.begin(), warnings.end());
  for (std::size_t begin = 0, end = 0; begin < warnings.size(); begin = end) {
    while (end < warnings.size() && warnings[end] == warnings[begin]) ++end;
    if (end - begin == inputs.size()) rows.warnings.push_back(warnings[begin]);
  }
  const std::size_t n = profile.tree().size();
  std::vector<std::variant<Filtered<std::int64_t>, Filtered<double>>> filtered;
  bool fits = true;
  for (std::uint32_t m = 0; m < composition.metrics.size(); ++m) {
    PROFD_CHECK(stop.status());
    const ComposedMetric& metric = composition.metrics[m];
    std::visit(
        [&]<class T>(T) {
          const bool of_sides = metric.role != MetricRole::sum && metric.role != MetricRole::before &&
                                metric.role != MetricRole::after;
          if (!of_sides) {
            filtered.emplace_back(sum_of<T>(composition, inputs, metric, n, fits));
            return;
          }
          // Roles of both sides stand behind the sides.
          const auto& before = std::get<Filtered<T>>(filtered[metric.before.v]);
          const auto& after = std::get<Filtered<T>>(filtered[metric.after.v]);
          Filtered<T> out;
          out.self.resize(n);
          for (std::size_t c = 0; c < n; ++c)
            out.self[c] = function_of(metric.role, before.self[c], after.self[c], fits);
          out.excluded = function_of(metric.role, before.excluded, after.excluded, fits);
          filtered.emplace_back(std::move(out));
        },
        profile.total(MetricId{m}));
  }
  std::vector<std::uint32_t> contexts;
  for (std::uint32_t c = 0; c < n; ++c)
    if (std::any_of(filtered.begin(), filtered.end(), [&](const auto& metric) {
          return std::visit([&](const auto& values) { return values.self[c] != 0; }, metric);
        }))
      contexts.push_back(c);
  rows.self = {};
  for (const auto& metric : filtered)
    std::visit(
        [&]<class T>(const Filtered<T>& values) {
          std::vector<T> column;
          column.reserve(contexts.size());
          for (const std::uint32_t c : contexts) column.push_back(values.self[c]);
          rows.self.values.emplace_back(Column<T>(std::move(column)));
          rows.excluded.emplace_back(values.excluded);
        },
        metric);
  rows.self.contexts = Column<std::uint32_t>(std::move(contexts));
  rows.clamped = !fits;
  return {};
}

}  // namespace profd
