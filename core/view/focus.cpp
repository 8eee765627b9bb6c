#include "core/view/focus.h"

#include "core/view/resolve.h"

namespace profd {

Result<std::vector<Key>> keys_of_focus(const Selection& selection, const std::vector<std::string>& names) {
  std::vector<Key> out;
  for (const std::string& name : names) {
    PROFD_TRY(const Key key, resolve_key(*selection.profile, *selection.boxes->keys, name));
    out.push_back(key);
  }
  return out;
}

}  // namespace profd
