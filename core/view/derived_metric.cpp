#include "core/view/derived_metric.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/model/composition.h"
#include "core/model/profile.h"
#include "core/support/text.h"

namespace profd {
namespace {

constexpr std::size_t kMaxText = 100;

// The measure of the other side; nothing where a metric of the formula is not of the side after.
std::optional<Measure> before_of(const Profile& profile, const Measure& after) {
  const Composition* composed = profile.composition();
  if (composed == nullptr || composed->kind != Composed::diff) return std::nullopt;
  Measure before = after;
  for (std::string& name : before.metrics) {
    const ComposedMetric& metric = composed->metrics[profile.find_metric(name)->v];
    if (metric.role != MetricRole::after) return std::nullopt;
    name = profile.metrics()[metric.before.v].name;
  }
  return before;
}

}  // namespace

const ProfileMeasure* DerivedMetrics::find(std::string_view name) const {
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const ProfileMeasure& one) { return one.metric.name == name; });
  return found == known.end() ? nullptr : &*found;
}

Result<DerivedMetric> parse_derived_metric(std::string_view text) {
  const std::size_t sign = text.find('=');
  if (sign == text.npos)
    return fail(ErrorCode::invalid,
                fmt::format("\"{}\" is no derived metric: NAME=FORMULA, as in cpi='cycles / instructions'",
                            cut_bytes(std::string(text), kMaxText)));
  const std::string_view rest = text.substr(sign + 1);
  const std::size_t unit = std::min(rest.find('='), rest.size());
  DerivedMetric out{std::string(trimmed(text.substr(0, sign))), std::string(trimmed(rest.substr(0, unit))),
                    std::string(trimmed(rest.substr(std::min(unit + 1, rest.size()))))};
  PROFD_CHECK(check_derived_metric(out));
  return out;
}

std::string to_text(const DerivedMetric& metric) {
  return metric.name + "=" + metric.formula + (metric.unit.empty() ? "" : "=" + metric.unit);
}

Result<void> check_derived_metric(const DerivedMetric& metric) {
  const auto fits = [](std::string_view text) {
    return text.size() <= kMaxText && std::none_of(text.begin(), text.end(), [](char c) {
             return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
           });
  };
  if (metric.name.empty() || !fits(metric.name))
    return fail(ErrorCode::invalid,
                fmt::format("the name of a derived metric has 1 to {} bytes of text", kMaxText));
  if (!fits(metric.unit))
    return fail(ErrorCode::invalid, fmt::format("a unit has at most {} bytes of text", kMaxText));
  return check_formula(metric.formula);
}

Result<ProfileMeasure> derive_metric(const Profile& profile, const DerivedMetric& metric) {
  PROFD_CHECK(check_derived_metric(metric));
  if (profile.find_metric(metric.name))
    return fail(ErrorCode::invalid,
                fmt::format("the profile has a metric {} already; another name is needed", metric.name));
  PROFD_TRY(Measure measure, parse_measure(metric.formula, profile.metrics()));
  if (measure.metrics.empty())
    return fail(ErrorCode::invalid,
                fmt::format("{} is the same everywhere: the formula names no metric", metric.formula), 0);
  std::optional<Measure> before = before_of(profile, measure);
  return ProfileMeasure{metric, std::move(measure), std::move(before)};
}

DerivedMetrics derive_metrics(const Profile& profile, const std::vector<DerivedMetric>& metrics) {
  DerivedMetrics out;
  for (const DerivedMetric& metric : metrics) {
    if (out.find(metric.name) != nullptr) continue;
    auto measure = derive_metric(profile, metric);
    if (measure)
      out.known.push_back(std::move(*measure));
    else
      out.unfit.push_back({metric, measure.error().message});
  }
  return out;
}

}  // namespace profd
