#include "server/feature/rows_answer.h"

#include <utility>

#include "server/feature/estimate.h"

namespace profd {

void RowWriter::row(Key key, const Value& self, const Value& total, bool children, Estimate estimate) {
  const Selection& selection = *view_.selection;
  const Profile& profile = *selection.profile;
  const KeyPlace place = key_place(profile, *selection.boxes->keys, key);
  RowColumns& rows = out_.rows;
  rows.name.push_back(names_.row_of(key));
  rows.file.push_back(files_.index_of(place.file));
  rows.line.push_back(place.line);
  rows.module.push_back(modules_.index_of(place.module));
  rows.self.push_back(self);
  rows.total.push_back(total);
  const bool self_estimated = (estimate & kSelfEstimated) != 0;
  const bool total_estimated = (estimate & kTotalEstimated) != 0;
  rows.self_text.push_back(marked(view_.whole.text(self), self_estimated));
  rows.total_text.push_back(marked(view_.whole.text(total), total_estimated));
  rows.self_share.push_back(marked(view_.whole.share_text(self), self_estimated));
  rows.total_share.push_back(marked(view_.whole.share_text(total), total_estimated));
  any_estimated_ = any_estimated_ || estimate != kExact;
  if (profile.contexts_estimated() && out_.recursion.empty())
    out_.recursion = excess_text(total, view_.whole.total);
  const std::uint32_t frame = selection.boxes->keys->example[key];
  const bool real = frame < profile.frames().size() && key < selection.boxes->keys->first_group();
  std::uint32_t flags = real && profile.frames().inlined[frame] != 0 ? box_flag::kInlined : 0;
  if (has_source(sources_, selection, key)) flags |= box_flag::kHasSource;
  if (!real) flags |= box_flag::kCollapsed;
  if (self_estimated) flags |= box_flag::kSelfEstimated;
  if (total_estimated) flags |= box_flag::kTotalEstimated;
  rows.flags.push_back(flags);
  rows.kind.push_back(real ? std::optional(profile.frames().kind[frame]) : std::nullopt);
  rows.key.push_back(key);
  rows.children.push_back(children ? 1 : 0);
}

void RowWriter::finish() {
  std::move(names_).finish(out_.names, out_.labels, out_.cuts);
  if (!any_estimated_) out_.head.estimated.clear();
  if (!out_.recursion.empty()) out_.head.note += (out_.head.note.empty() ? "" : " ") + out_.recursion;
}

}  // namespace profd
