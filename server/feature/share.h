// What the numbers of one metric are shown as: value and share of one whole.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "core/model/metric.h"
#include "server/feature/text.h"

namespace profd {

struct Whole {
  Value total;       // what shares are of
  std::string unit;  // as in MetricInfo

  [[nodiscard]] double share(const Value& value) const {
    const double whole = as_double(total);
    return whole == 0 ? 0 : as_double(value) / whole;
  }
  [[nodiscard]] std::string share_text(const Value& value) const { return format_share(value, total); }
  [[nodiscard]] std::string text(const Value& value) const { return format_value(value, unit); }
};

// "34.1 %  1.24 s · self 4.0 %"; self only when it adds something.
inline std::string cost_text(const Whole& whole, const Value& self, const Value& total) {
  std::string text = whole.share_text(total) + "  " + whole.text(total);
  if (std::abs(whole.share(self)) >= 0.001) text += " · self " + whole.share_text(self);
  return text;
}

}  // namespace profd
