// Boxes by names: what a link, a script or whoever saw an earlier revision knows of a box. Keys are good for
// one revision of one profile, names for all that have them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/view/keys.h"
#include "core/view/spec.h"

namespace profd {

struct Selection;

struct NamePath {
  std::vector<std::string> names;  // from below the root; whole names, or what name_hash() makes of them
  bool hashed = false;
};
// FNV-1a of 32 bits over the UTF-16 code units of the name, low byte first, in base 36: one for each level of
// a box is short enough for an address.
std::string name_hash(std::string_view name);

// The keys of the box that the names lead to, as far down as the view has them: fewer keys than names where
// it has not. Of several siblings of a name the widest is meant, of those equally wide the first.
Result<std::vector<Key>> path_of_names(const Selection& selection, Shape shape, const std::vector<Key>& focus,
                                       const NamePath& path, const StopToken& stop);

}  // namespace profd
