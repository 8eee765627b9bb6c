// What boxes of a flame graph are coloured by, where that is a metric: CPI over time is this.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/layout/flame.h"
#include "server/feature/metric_values.h"
#include "server/feature/view_answer.h"

namespace profd {

// What colours by a metric mean. Of a stored metric from 0 to the most, by the square root: most boxes are
// small beside the largest. Of one by formula evenly, between the values that 5 in 100 boxes are below and
// above: one outlier would bleach all others.
struct ColorScale {
  std::string metric, unit;
  double low = 0, high = 0;
  std::string low_text, high_text;
  bool by_root = false;
  std::size_t n_without = 0;  // boxes without a value
};

// Where on the scale a value is, 0 to 1.
double place_on(const ColorScale& scale, double value);

// By box of a layout; remainders have no value.
struct BoxColors {
  std::vector<std::optional<Value>> value;  // the box's total in the metric
  std::vector<std::string> text;            // the same as shown
  ColorScale scale;
};
// Fails as check_metric() does. `metric`: stored or by formula.
Result<BoxColors> box_colors(Views& views, const OpenProfile& open, const ViewSpec& spec,
                             std::string_view metric, const std::vector<Key>& focus,
                             const FlameLayout& layout, const StopToken& stop);

}  // namespace profd
