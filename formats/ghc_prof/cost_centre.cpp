#include "formats/ghc_prof/cost_centre.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/support/text_number.h"

namespace profd::ghc_prof {

FrameId cost_centre_frame(ProfileBuilder& builder, std::string_view label, std::string_view module,
                          std::string_view source) {
  FrameSpec spec;
  FunctionSpec function{.name =
                            builder.string(fmt::format("{}.{}", repair_utf8(module), repair_utf8(label)))};
  spec.module = builder.module({.name = module});
  std::size_t colon = source.starts_with('<') ? std::string_view::npos : source.find(":(");
  std::string_view place;
  if (colon != std::string_view::npos) {
    place = source.substr(colon + 2);  // "14,1)-(15,41)"
  } else if (!source.starts_with('<')) {
    // "file:95:11-83": the first colon with a number behind it.
    for (colon = source.find(':'); colon != std::string_view::npos; colon = source.find(':', colon + 1))
      if (colon + 1 < source.size() && source[colon + 1] >= '0' && source[colon + 1] <= '9') break;
    if (colon != std::string_view::npos) place = source.substr(colon + 1);
  }
  if (!place.empty()) {
    const std::size_t end = std::min(place.find_first_not_of("0123456789"), place.size());
    std::uint32_t line = 0, column = 0;
    if (parse_uint(place.substr(0, end), line)) {
      spec.line = function.start_line = line;
      if (end < place.size() && (place[end] == ',' || place[end] == ':')) {
        const std::string_view rest = place.substr(end + 1);
        if (parse_uint(rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size())), column))
          spec.column = column;
      }
      function.file = builder.string(source.substr(0, colon));
    }
  }
  spec.function = builder.function(function);
  return builder.frame(spec);
}

}  // namespace profd::ghc_prof
