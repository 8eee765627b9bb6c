// What the tooltip of a frame says: "main (1,234 samples, 12.34%)".
#pragma once

#include <string_view>

namespace profd::flamegraph_svg {

struct Title {
  bool valid = false;  // else it is a text of its own and says no count
  std::string_view name;
  double count = 0;
  bool is_whole = true;      // the count has no decimals and fits 53 bits
  std::string_view unit;     // "samples", "ms", "bytes", "sample weight" left out
  bool has_delta = false;    // "; +1.20%": of a differential
  double delta_percent = 0;  // the frame's own difference in percent of the total
  bool has_weight = false;   // "4 sample weight, ": of an old differential
};

Title parse_title(std::string_view text);

}  // namespace profd::flamegraph_svg
