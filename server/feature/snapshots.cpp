#include "server/feature/snapshots.h"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "server/feature/text.h"

namespace profd {

SnapshotTimes snapshot_times(const Composition& composition) {
  const std::size_t n = composition.inputs.size();
  SnapshotTimes out;
  out.at.resize(n);
  out.by_time = true;
  for (std::size_t i = 0; i < n && out.by_time; ++i) {
    const auto& at = composition.inputs[i].time_ns;
    out.by_time = at.has_value() && (i == 0 || *at > *composition.inputs[i - 1].time_ns);
    if (out.by_time) out.at[i] = static_cast<double>(*at - *composition.inputs[0].time_ns) * 1e-9;
  }
  if (!out.by_time) std::iota(out.at.begin(), out.at.end(), 0.0);
  return out;
}

std::string slope_text(double slope, const std::string& unit, bool by_time) {
  const std::string size = format_value(Value{std::fabs(slope)}, unit);
  return fmt::format("{}{}{}", slope < 0 ? "-" : "+", size, by_time ? "/s" : " a snapshot");
}

}  // namespace profd
