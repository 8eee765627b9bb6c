#include "core/view/focus.h"

#include <fmt/format.h>

namespace profd {

Result<std::vector<Key>> keys_of_focus(const Selection& selection, const std::vector<std::string>& names) {
  std::vector<Key> out;
  for (const std::string& name : names) {
    const std::vector<Key> keys = find_keys(*selection.profile, *selection.keys, name);
    if (keys.empty()) {
      return fail(ErrorCode::invalid, fmt::format("no frame is called \"{}\"; `profd top` lists them", name));
    }
    if (keys.size() > 1) {
      return fail(
          ErrorCode::invalid,
          fmt::format("\"{}\" is the name of {} frames in different files; a filter by file picks one", name,
                      keys.size()));
    }
    out.push_back(keys.front());
  }
  return out;
}

}  // namespace profd
