// Texts of a column of values most of which are 0, as rows of code have them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/metric.h"

namespace profd {

// text_of(value) of each; that of 0 is made once. The values are Value or std::optional<Value>, of one type.
template <class V, class Text>
std::vector<std::string> texts_of(const std::vector<V>& values, Text text_of) {
  const V zero_integer(Value(std::int64_t{0})), zero_fraction(Value(0.0));
  std::optional<std::string> of_zero;
  std::vector<std::string> out;
  out.reserve(values.size());
  for (const V& value : values) {
    if (value != zero_integer && value != zero_fraction) {
      out.push_back(text_of(value));
      continue;
    }
    if (!of_zero) of_zero = text_of(value);
    out.push_back(*of_zero);
  }
  return out;
}

}  // namespace profd
