#include "server/feature/line_places.h"

namespace profd {

LinePlaces::LinePlaces(const SourceFile& file, const Document* document, std::uint64_t view_id)
    : uncertain_(file.uncertain()) {
  const bool followed = file.lines == LineTrust::followed;
  if (document != nullptr) {
    map_ = document->line_map({view_id, file.recorded_ns});
    if (followed) map_ = map_->after(file.since);
  } else if (followed) {
    map_ = file.since;
  }
  if (map_) current_ = map_->current_of_origin();
}

std::optional<LinePlaces::Placed> LinePlaces::find(std::uint32_t source_line) const {
  if (source_line == 0) return std::nullopt;
  Placed placed{source_line - 1, false, uncertain_};
  if (!map_) return placed;
  if (placed.line >= current_.size() || current_[placed.line] == kNone) return std::nullopt;
  placed.line = current_[placed.line];
  placed.changed = map_->stale(placed.line);
  placed.stale = placed.stale || placed.changed;
  return placed;
}

}  // namespace profd
