#include "server/feature/fitted_name.h"

#include "core/view/name_cuts.h"
#include "server/feature/escape.h"

namespace profd {

std::string fitted_name(std::string_view name, std::size_t columns) {
  std::string shown = sanitize_text(name);
  if (display_width(shown) <= columns) return shown;
  for (const std::uint32_t at : name_cuts(name)) {
    shown = sanitize_text(name.substr(at));
    if (display_width(shown) <= columns) return shown;
  }
  return cut_to_width(shown, columns);
}

std::vector<std::uint32_t> cuts_in_utf16(std::string_view name, std::vector<std::uint32_t> cuts) {
  std::uint32_t units = 0;
  std::size_t at = 0;
  for (std::uint32_t& cut : cuts) {
    for (; at < cut && at < name.size(); ++at) {
      const auto byte = static_cast<unsigned char>(name[at]);
      if ((byte & 0xC0) == 0x80) continue;  // of a character that was counted
      units += byte >= 0xF0 ? 2 : 1;
    }
    cut = units;
  }
  return cuts;
}

}  // namespace profd
