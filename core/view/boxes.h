// Boxes: what is one box in the views of a profile, by granularity, `hide` and `collapse` filters, whatever
// is measured. Selections of other metrics and rows share them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/support/stop.h"
#include "core/view/keys.h"
#include "core/view/part.h"
#include "core/view/spec.h"

namespace profd {

class KeyMemo;

struct Boxes {
  ProfilePtr profile;
  std::shared_ptr<const KeyTable> keys;  // collapse groups have keys of their own, see KeyTable::groups
  std::vector<std::uint8_t> hidden;      // by FrameId; empty when nothing is hidden
  bool collapse_recursion = false;
  // By context: the context that starts the box this one is part of, itself for most. A hidden context
  // belongs to its nearest visible ancestor's box (0, the root, when there is none), a folded one to the
  // start of its run. owner[c] <= c. Empty when every context starts a box of its own.
  Column<std::uint32_t> owner;
  std::vector<Filter> filters;        // the hide and collapse filters, names in full
  std::vector<std::string> warnings;  // of filters and rules that match nothing
  // Trees and indexes of contexts by box, made when first asked for. Grows with use, within a bound.
  std::shared_ptr<KeyMemo> memo;
  std::vector<ViewKey> parts;  // what it shares with what else is kept

  // Every context is a box of its own.
  [[nodiscard]] bool plain() const { return hidden.empty() && owner.empty(); }
  // Whether boxes and lines of the frame are its own: it is not hidden, nor part of a group.
  [[nodiscard]] bool shows(std::uint32_t frame) const {
    return (hidden.empty() || hidden[frame] == 0) && keys->of_frame[frame] < keys->first_group();
  }
  [[nodiscard]] std::uint32_t owner_of(std::uint32_t context) const {
    return owner.empty() ? context : owner[context];
  }
  // Bytes of its own: keys that others share do not count.
  [[nodiscard]] std::size_t memory() const;
};
using BoxesPtr = std::shared_ptr<const Boxes>;

// `filters`: hide and collapse, names in full (with_whole_names). Fails with `invalid` when one cannot be
// applied.
Result<BoxesPtr> make_boxes(const ProfilePtr& profile, Granularity granularity, std::vector<Filter> filters,
                            const PartsOf& kept, StopToken stop);
// The same filters in boxes of other keys, which say of the same frames what is the same.
Result<BoxesPtr> boxes_with_keys(const Boxes& boxes, std::shared_ptr<const KeyTable> keys, StopToken stop);

}  // namespace profd
