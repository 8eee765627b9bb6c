// The hottest lines of a source file, and what stands around a line on the stacks, as places to go to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/feature/annotate.h"

namespace profd {

struct HotLine {
  std::uint32_t line = 0;  // 0-based, in the document as it is now
  std::string text;        // "34.1 %  1.24 s · self 4.0 %"
};
// Hottest first, at most ten, above the request's threshold.
Result<std::vector<HotLine>> hot_lines(Views& views, const AnnotateRequest& request, const StopToken& stop);

struct RelatedPlace {
  std::string path;        // of the workspace
  std::uint32_t line = 0;  // 0-based
  std::string text;        // "called by readParcels 62.3 %"
};
// Who calls the line's code and what it calls, heaviest first, as far as the workspace has it.
Result<std::vector<RelatedPlace>> related_places(Views& views, const AnnotateRequest& request,
                                                 std::uint32_t line, const StopToken& stop);

}  // namespace profd
