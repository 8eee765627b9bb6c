// Which sets the boxes of a flame graph are of: those that a person highlights, and the kind of work of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layout/flame.h"
#include "server/feature/sets_answer.h"

namespace profd {

// By box of a layout: bit i for the i-th set that was asked for. A box is of a pattern or set when its name
// is, and of a run of frames when it is one of the run.
Result<std::vector<std::uint32_t>> highlights_of_boxes(Views& views, const OpenProfile& open,
                                                       const ViewSpec& spec,
                                                       const std::vector<NamedSet>& asked,
                                                       const FrameSets* sets, const FlameLayout& layout,
                                                       const StopToken& stop);

struct WorkKind {
  std::string name, title;
  std::uint16_t hue = 0;
};
struct BoxWork {
  std::vector<WorkKind> kinds;     // that boxes here have, in the order of the sets
  std::vector<std::int32_t> work;  // by box, index into kinds; -1 none
};
// The hue of a box; nothing where it has no kind.
std::optional<int> hue_of(const BoxWork& work, std::uint32_t box);
// The kind of the innermost frame that has one: top-down among the box and those above it, bottom-up among
// the box and those that it leads to.
Result<BoxWork> work_of_boxes(Views& views, const OpenProfile& open, const ViewSpec& spec,
                              const FrameSets& sets, const FlameLayout& layout, const StopToken& stop);

}  // namespace profd
