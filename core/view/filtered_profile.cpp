#include "core/view/filtered_profile.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "core/model/rewrite.h"
#include "core/view/passing.h"
#include "core/view/sample_parts.h"

namespace profd {
namespace {

// 1 by sample that passes filters by threads, labels and times; and what is left of it.
void choose_samples(const Selection& selection, const SampleParts& parts, Rewrite& how) {
  const auto& filters = selection.rows->filters;
  if (std::none_of(filters.begin(), filters.end(), filters_samples)) return;
  how.samples.resize(parts.parts().size());
  bool cuts = false;
  for (std::size_t row = 0; row < how.samples.size(); ++row) {
    how.samples[row] = parts.passes(row) ? 1 : 0;
    cuts = cuts || parts.parts()[row] == SamplePart::cut;
  }
  if (!cuts) return;
  how.cut = [&parts](std::uint32_t row, std::span<Value> values, std::int64_t& time) {
    if (parts.parts()[row] != SamplePart::cut) return;
    for (std::uint32_t m = 0; m < values.size(); ++m) values[m] = parts.value(row, MetricId{m});
    time = parts.begin(row);
  };
}

// By frame: what folds into one box when it calls itself, as Selection::owner has it.
std::vector<std::uint32_t> runs_of(const Selection& selection) {
  const KeyTable& keys = *selection.boxes->keys;
  if (!selection.boxes->collapse_recursion && keys.groups.empty()) return {};
  std::vector<std::uint32_t> runs(keys.of_frame);
  if (!selection.boxes->collapse_recursion)
    for (std::uint32_t& key : runs) key = key >= keys.first_group() ? key : kNone;
  return runs;
}

void stand_in(const Selection& selection, FrameId frame, RewriteTables& tables, StandIns& out) {
  if (!selection.boxes->hidden.empty() && selection.boxes->hidden[frame.v] != 0) return;
  const Profile& profile = *selection.profile;
  const KeyTable& keys = *selection.boxes->keys;
  const Key key = keys.of_frame[frame.v];
  if (key >= keys.first_group()) {
    out.merged = true;
    out.frames.push_back(tables.frame({.function = tables.function(key_name(profile, keys, key))}));
    return;
  }
  if (keys.granularity != Granularity::file && keys.granularity != Granularity::module) {
    out.frames.push_back(tables.copy(frame));
    return;
  }
  FrameSpec spec;
  spec.kind = profile.frames().kind[frame.v];
  spec.module = tables.copy(profile.frames().module[frame.v]);
  spec.function = tables.function(key_name(profile, keys, key), key_place(profile, keys, key).file);
  if (keys.granularity == Granularity::file) spec.file = tables.copy(profile.frames().file[frame.v]);
  out.merged = true;
  out.frames.push_back(tables.frame(spec));
}

}  // namespace

Result<ProfilePtr> filtered_profile(const Selection& selection, const ViewSpec& spec, StopToken stop) {
  if (spec.shape != Shape::top_down)
    return fail(ErrorCode::unsupported,
                fmt::format("the format holds stacks, which a {} view has not; a top-down view can be "
                            "written, and csv and json hold every shape",
                            to_text(spec.shape)));
  const Profile& profile = *selection.profile;
  Rewrite how;
  how.info = profile.info();
  how.info->properties.emplace_back("view", to_text(spec));
  how.default_metric = selection.metric();
  PROFD_TRY(how.contexts, stacks_that_pass(selection, stop));
  std::vector<std::string> told;  // by the selection already
  PROFD_TRY(const SampleParts parts, SampleParts::of(profile, selection.rows->filters, told, stop));
  choose_samples(selection, parts, how);
  PROFD_TRY(how.moments, moments_that_pass(selection, stop));
  // No filter of samples can say yes to what belongs to none.
  how.unsampled =
      std::none_of(selection.rows->filters.begin(), selection.rows->filters.end(), filters_samples);
  how.run_of = runs_of(selection);
  how.frames = [&](FrameId frame, RewriteTables& tables, StandIns& out) -> Result<void> {
    stand_in(selection, frame, tables, out);
    return {};
  };
  return rewrite(profile, how, std::move(stop));
}

}  // namespace profd
