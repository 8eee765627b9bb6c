#include "server/feature/hot_lines.h"

#include <algorithm>
#include <optional>

#include "server/feature/hover.h"

namespace profd {

Result<std::vector<HotLine>> hot_lines(Views& views, const AnnotateRequest& request, const StopToken& stop) {
  PROFD_TRY(const FileAnnotations file, annotate_file(views, request, stop));
  std::vector<HotLine> out;
  for (const std::uint32_t line : file.hottest) {
    const auto found = std::find_if(file.lines.begin(), file.lines.end(),
                                    [&](const AnnotatedLine& one) { return one.line == line; });
    if (found != file.lines.end()) out.push_back({line, found->text});
  }
  return out;
}

Result<std::vector<RelatedPlace>> related_places(Views& views, const AnnotateRequest& request,
                                                 std::uint32_t line, const StopToken& stop) {
  HoverRequest asked;
  asked.file = request;
  asked.line = line;
  PROFD_TRY(const std::optional<Hover> hover, hover_at(views, asked, stop));
  std::vector<RelatedPlace> out;
  if (!hover) return out;
  for (const HoverList& list : hover->lists) {
    if (!list.of.empty()) continue;  // of the whole function, which has more lines
    for (const HoverNeighbour& entry : list.entries)
      if (!entry.path.empty())
        out.push_back({entry.path, entry.line == 0 ? 0 : entry.line - 1,
                       (list.callers ? "called by " : "calls ") + entry.name + " " + entry.share});
  }
  return out;
}

}  // namespace profd
