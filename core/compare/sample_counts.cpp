#include "core/compare/sample_counts.h"

#include "core/model/profile.h"

namespace profd {

std::optional<SampleCounts> sample_counts(const Composition& composition, std::uint32_t of) {
  SampleCounts counts;
  const auto is_samples = [](const InputMetric& metric) {
    return metric.name == "samples" && metric.unit == "count";
  };
  for (std::uint32_t m = 0; m < composition.of.size(); ++m)
    if (is_samples(composition.of[m]) && (m == of || composition.of[m].scale == composition.of[of].scale)) {
      counts.of = m;
      counts.factor.assign(composition.inputs.size(), 1);
      // Of what a heap holds, samples are of another thing.
      if (m == of || composition.of[of].unit != "bytes") return counts;
    }
  counts.of = of;
  counts.factor.clear();
  for (const ComposedInput& input : composition.inputs) {
    if (!input.profile) return std::nullopt;
    const ProfileInfo& info = input.profile->info();
    if (!info.period || *info.period <= 0 || composition.of[of].unit == "bytes" ||
        normalize_unit(info.period_unit) != composition.of[of].unit)
      return std::nullopt;
    counts.factor.push_back(1 / static_cast<double>(*info.period));
  }
  return counts;
}

}  // namespace profd
