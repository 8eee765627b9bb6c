#include "server/feature/box_colors.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace profd {
namespace {

// What 5 in 100 are below, or above.
std::pair<double, double> usual_range(std::vector<double> values) {
  constexpr double kOutside = 0.05;
  if (values.empty()) return {0, 0};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(std::lround(static_cast<double>(values.size() - 1) * share))];
  };
  return {at(kOutside), at(1 - kOutside)};
}

}  // namespace

double place_on(const ColorScale& scale, double value) {
  // Where all boxes have one value, none has much of it and none little.
  if (scale.high <= scale.low) return 0.5;
  const double place = std::clamp((value - scale.low) / (scale.high - scale.low), 0.0, 1.0);
  return scale.by_root ? std::sqrt(place) : place;
}

Result<BoxColors> box_colors(Views& views, const OpenProfile& open, const ViewSpec& spec,
                             std::string_view metric, const std::vector<Key>& focus,
                             const FlameLayout& layout, const StopToken& stop) {
  PROFD_TRY(SidedNumbers numbers,
            metric_of_boxes(views, open, spec, metric, focus, {layout.parent, layout.key, layout.divided},
                            BoxValuesWanted::totals, stop));
  BoxColors out;
  out.value = std::move(numbers.now.total);
  out.scale.metric = metric;
  out.scale.unit = metric_unit(open, metric);
  std::vector<double> values;
  for (std::uint32_t i = 0; i < layout.size(); ++i) {
    if (layout.n_merged[i] > 0)
      out.value[i] = std::nullopt;
    else if (out.value[i])
      values.push_back(as_double(*out.value[i]));
    else
      ++out.scale.n_without;
    out.text.push_back(metric_text(open, metric, out.value[i]));
  }
  if (open.derived_metric(metric) != nullptr) {
    std::tie(out.scale.low, out.scale.high) = usual_range(std::move(values));
  } else {
    out.scale.by_root = true;
    for (const double value : values) out.scale.high = std::max(out.scale.high, value);
  }
  out.scale.low_text = metric_text(open, metric, Value(out.scale.low));
  out.scale.high_text = metric_text(open, metric, Value(out.scale.high));
  return out;
}

}  // namespace profd
