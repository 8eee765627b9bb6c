#include "core/view/rows.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "core/support/sums.h"
#include "core/view/filters.h"
#include "core/view/input_rows.h"
#include "core/view/sample_parts.h"

namespace profd {
namespace {

template <class T>
Column<T> take(const Column<T>& values, const std::vector<std::uint32_t>& rows) {
  std::vector<T> out;
  out.reserve(rows.size());
  for (std::uint32_t row : rows) out.push_back(values[row]);
  return Column<T>(std::move(out));
}

SelfTable take_rows(const SelfTable& self, const std::vector<std::uint32_t>& rows) {
  SelfTable out;
  out.contexts = take(self.contexts, rows);
  for (const ValueColumn& values : self.values)
    out.values.push_back(std::visit([&](const auto& v) -> ValueColumn { return take(v, rows); }, values));
  return out;
}

// Rows of samples that passed, in order of context.
std::vector<std::uint32_t> ordered_rows(const SampleTable& samples, const SampleParts& parts,
                                        std::size_t n_contexts) {
  std::vector<std::uint32_t> rows;
  bool sorted = true;
  for (std::uint32_t i = 0; i < samples.size(); ++i) {
    if (!parts.passes(i)) continue;
    sorted = sorted && (rows.empty() || samples.context[rows.back()] <= samples.context[i]);
    rows.push_back(i);
  }
  if (sorted) return rows;
  if (rows.size() < n_contexts / 8) {
    std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      return samples.context[a] < samples.context[b];
    });
    return rows;
  }
  std::vector<std::uint32_t> start(n_contexts + 1, 0), order(rows.size());
  for (std::uint32_t row : rows) ++start[samples.context[row] + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  for (std::uint32_t row : rows) order[start[samples.context[row]]++] = row;
  return order;
}

// What is left of the samples of `rows`.
SelfTable take_parts(const SampleTable& samples, const SampleParts& parts,
                     const std::vector<std::uint32_t>& rows) {
  SelfTable out = take_rows({samples.context, samples.values}, rows);
  if (std::none_of(rows.begin(), rows.end(),
                   [&](std::uint32_t row) { return parts.parts()[row] == SamplePart::cut; }))
    return out;
  for (std::uint32_t m = 0; m < out.values.size(); ++m)
    std::visit(
        [&](auto& column) {
          using T = std::remove_cvref_t<decltype(column[0])>;
          std::vector<T> values(column.begin(), column.end());
          for (std::size_t i = 0; i < rows.size(); ++i)
            if (parts.parts()[rows[i]] == SamplePart::cut)
              values[i] = std::get<T>(parts.value(rows[i], MetricId{m}));
          column = Column<T>(std::move(values));
        },
        out.values[m]);
  return out;
}

// By metric, what no filter of samples can decide on: values that belong to no sample, and samples that are
// marked.
std::vector<Value> sum_of_undecided(const Profile& profile, const SampleParts& parts) {
  std::vector<Value> sums;
  for (std::size_t m = 0; m < profile.metrics().size(); ++m) {
    const bool saturated = profile.metrics()[m].saturated;
    sums.push_back(std::visit(
        [&](const auto& values) {
          using T = std::remove_cvref_t<decltype(values[0])>;
          T in_samples{}, marked{}, magnitudes{};
          for (std::size_t i = 0; i < values.size(); ++i) {
            const T value = finite(values[i]);
            in_samples = add(in_samples, value, saturated);
            magnitudes = add(magnitudes, magnitude(value), true);
            if (parts.parts()[i] == SamplePart::unknown) marked = add(marked, value, saturated);
          }
          const T* const total = std::get_if<T>(&profile.total(MetricId(m)));
          assert(total != nullptr);  // a metric is integral or fractional as a whole
          T outside = subtract(total == nullptr ? in_samples : *total, in_samples, saturated);
          // Sums of fractions in another order differ in their last digits.
          if constexpr (std::is_same_v<T, double>)
            if (std::fabs(outside) <= magnitudes * 1e-9) outside = 0;
          return Value(add(outside, marked, saturated));
        },
        profile.samples()->values[m]));
  }
  return sums;
}

// The rows that keep and drop let through.
Result<void> filter_rows(const Profile& profile, Rows& rows, StopToken stop) {
  const std::vector<Filter>& filters = rows.filters;
  SelfTable& self = rows.self;
  self = profile.self();
  const auto wants = [&](bool samples) {
    return std::any_of(filters.begin(), filters.end(),
                       [&](const Filter& f) { return filters_samples(f) == samples; });
  };
  if (wants(true) && profile.composition() != nullptr) return take_rows_of_inputs(rows, std::move(stop));
  if (wants(true)) {
    PROFD_TRY(const SampleParts parts, SampleParts::of(profile, filters, rows.warnings, stop));
    const SampleTable& samples = *profile.samples();
    rows.excluded = sum_of_undecided(profile, parts);
    self = take_parts(samples, parts, ordered_rows(samples, parts, profile.tree().size()));
  }
  for (const Filter& filter : filters) {
    if (filters_samples(filter)) continue;
    PROFD_CHECK(stop.status());
    PROFD_TRY(const MeantContexts meant, contexts_meant(profile, filter, stop));
    warn_unless(meant.any, filter, rows.warnings);
    const std::vector<std::uint32_t> passed =
        rows_in(self.contexts, meant.ranges, filter.op == FilterOp::keep);
    if (passed.size() != self.contexts.size()) self = take_rows(self, passed);
  }
  return {};
}

}  // namespace

std::size_t Rows::memory() const {
  if (self.contexts.data() == profile->self().contexts.data()) return sizeof(Rows);
  std::size_t bytes = sizeof(Rows) + self.contexts.bytes();
  for (const ValueColumn& values : self.values) bytes += bytes_of(values);
  return bytes;
}

Result<RowsPtr> make_rows(const ProfilePtr& profile, std::vector<Filter> filters, StopToken stop) {
  auto rows = std::make_shared<Rows>();
  rows->profile = profile;
  rows->filters = std::move(filters);
  PROFD_CHECK(filter_rows(*profile, *rows, std::move(stop)));
  return RowsPtr(std::move(rows));
}

}  // namespace profd
