// Which release of the schema a message follows. Nothing in it says so: field numbers moved, and only one
// reading of them makes sense.
#pragma once

#include "formats/otlp/dictionary.h"

namespace profd::otlp {

// Of Sample: 1.10 has attributes, link, values in fields 2, 3, 4; 1.8 and 1.9 have values, attributes, link.
struct SampleLayout {
  std::uint32_t values, attributes, link;
};
inline constexpr SampleLayout kLayout110{4, 2, 3}, kLayout18{2, 3, 4};
enum class Layout : std::uint8_t { v1_8, v1_10 };

// How many samples contradict a layout: indices past their table, wrong wire types, no value.
class LayoutVotes {
 public:
  void see_sample(Cursor sample, const Dictionary& dictionary);
  Layout layout() const { return wrong_18_ < wrong_110_ ? Layout::v1_8 : Layout::v1_10; }
  // Both readings make sense, and they differ.
  bool ambiguous() const { return seen_ > 0 && wrong_18_ == wrong_110_; }

 private:
  std::uint64_t wrong_18_ = 0, wrong_110_ = 0, seen_ = 0;
};

}  // namespace profd::otlp
