// Derived metrics: what a person calls by a name and has worked out of the metrics of a profile, box by box
// (measure.h). A definition is text, good for any profile; against one profile it is a measure.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "core/view/measure.h"

namespace profd {

class Profile;

struct DerivedMetric {
  std::string name;     // what it is asked for by
  std::string formula;  // see measure.h
  std::string unit;     // given by a person; "" is that of the formula
  bool operator==(const DerivedMetric&) const = default;
};

// As many as a profile, a client and a project file may have, each.
constexpr std::size_t kMaxDerivedMetrics = 64;

struct ProfileMeasure {
  DerivedMetric metric;
  Measure measure;
  // Of a diff, where all metrics of the formula are of the side after: the same of the side before. A ratio
  // is then one of sums on either side, and its change that of the ratio.
  std::optional<Measure> before;
};
struct UnfitMetric {
  DerivedMetric metric;
  std::string why;  // a sentence
};

// Immutable, in the order of definition; names are distinct.
struct DerivedMetrics {
  std::vector<ProfileMeasure> known;
  std::vector<UnfitMetric> unfit;  // of metrics that the profile has not

  [[nodiscard]] const ProfileMeasure* find(std::string_view name) const;
};
using DerivedMetricsPtr = std::shared_ptr<const DerivedMetrics>;

// "cpi=cycles / instructions", or with a unit, "cpi=cycles / instructions=per inst": formulas have no "=".
// Fails as check_derived_metric().
Result<DerivedMetric> parse_derived_metric(std::string_view text);
// parse_derived_metric() reads it, unless the name has a "=".
std::string to_text(const DerivedMetric& metric);
// What can be said of one without a profile. Fails with `invalid` for a name that is empty, longer than 100
// bytes or has control characters, for a unit that does, and as check_formula() does.
Result<void> check_derived_metric(const DerivedMetric& metric);
// As parse_measure() fails, and with `invalid` where the profile has a metric of that name already.
Result<ProfileMeasure> derive_metric(const Profile& profile, const DerivedMetric& metric);
// Of several of one name the first counts.
DerivedMetrics derive_metrics(const Profile& profile, const std::vector<DerivedMetric>& metrics);

}  // namespace profd
