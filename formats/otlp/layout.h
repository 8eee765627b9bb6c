// Which release of the schema a message follows. Nothing in it says so: field numbers moved, and only one
// reading of them makes sense.
#pragma once

#include "formats/otlp/dictionary.h"

namespace profd::otlp {

// What Sample has elsewhere in 1.10 than in 1.8 and 1.9.
struct SampleLayout {
  std::uint32_t values, attributes, link;
};
inline constexpr SampleLayout kLayout110{schema::sample::values, schema::sample::attribute_indices,
                                         schema::sample::link_index};
inline constexpr SampleLayout kLayout18{schema::sample18::values, schema::sample18::attribute_indices,
                                        schema::sample18::link_index};
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
