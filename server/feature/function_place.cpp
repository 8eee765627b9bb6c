#include "server/feature/function_place.h"

namespace profd {

std::optional<FunctionPlace> only_place_of(const Profile& profile, std::string_view name,
                                           std::size_t max_file) {
  std::optional<FunctionPlace> place;
  for (std::uint32_t f = 0; f < profile.functions().size(); ++f) {
    if (profile.function_name(FunctionId{f}) != name) continue;
    if (place) return std::nullopt;
    place.emplace();
    const std::string_view file = profile.strings()[profile.functions().file[f]];
    if (file.size() > max_file) continue;
    place->file = file;
    place->line = profile.functions().start_line[f];
  }
  return place;
}

}  // namespace profd
