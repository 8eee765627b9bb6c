#include "core/view/filtered_profile.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/model/rewrite.h"
#include "core/view/filters.h"

namespace profd {
namespace {

// 1 by context: its stack passes the filters of functions, modules, files and fragments. Empty without such.
Result<std::vector<std::uint8_t>> stacks_that_pass(const Selection& selection, StopToken& stop) {
  const Profile& profile = *selection.profile;
  std::vector<std::uint8_t> passes;
  for (const Filter& filter : selection.rows->filters) {
    if (filters_samples(filter)) continue;
    PROFD_CHECK(stop.status());
    PROFD_TRY(const ContextRanges ranges, subtrees_meant(profile, filter, stop));
    passes.resize(profile.tree().size(), 1);
    std::vector<std::uint8_t> inside(passes.size(), 0);
    for (std::size_t r = 0; r < ranges.size(); ++r)
      std::fill(inside.begin() + ranges.begin[r], inside.begin() + ranges.end[r], 1);
    const std::uint8_t wanted = filter.op == FilterOp::keep ? 1 : 0;
    for (std::size_t c = 0; c < passes.size(); ++c) passes[c] &= inside[c] == wanted;
  }
  return passes;
}

// The same by sample, for threads, labels and times.
Result<std::vector<std::uint8_t>> samples_that_pass(const Selection& selection, const StopToken& stop) {
  const Profile& profile = *selection.profile;
  std::vector<std::uint8_t> passes, undecided;
  for (const Filter& filter : selection.rows->filters) {
    if (!filters_samples(filter)) continue;
    const std::size_t n = profile.samples() == nullptr ? 0 : profile.samples()->size();
    passes.resize(n, 1);
    undecided.resize(n, 0);
    PROFD_TRY([[maybe_unused]] const bool any, filter_samples(profile, filter, passes, undecided, stop));
  }
  for (std::size_t i = 0; i < passes.size(); ++i)
    if (undecided[i] != 0) passes[i] = 0;
  return passes;
}

// The same for what a timeline has: it has threads and times, and no labels. What a filter that keeps cannot
// tell of does not pass. A window of time keeps all that reaches into it, and drops what lies in it whole.
Result<void> choose_moments(const Selection& selection, const StopToken& stop, Rewrite& how) {
  struct Choice {
    Filter filter;
    std::vector<std::uint8_t> threads;  // of a filter by thread: 1 where it means the thread
  };
  std::vector<Choice> choices;
  for (const Filter& filter : selection.rows->filters) {
    if (!filters_samples(filter)) continue;
    Choice& choice = choices.emplace_back(Choice{filter, {}});
    if (filter.by != FilterBy::thread) continue;
    PROFD_TRY(choice.threads, match_threads(*selection.profile, filter, stop));
  }
  if (choices.empty()) return {};
  how.moments = [choices = std::move(choices)](std::uint32_t thread, std::int64_t begin, std::int64_t end) {
    return std::all_of(choices.begin(), choices.end(), [&](const Choice& choice) {
      const Filter& filter = choice.filter;
      const bool keeps = filter.op == FilterOp::keep;
      if (filter.by == FilterBy::label) return !keeps;
      if (filter.by == FilterBy::thread)
        return thread == kNone ? !keeps : (choice.threads[thread] != 0) == keeps;
      const std::int64_t from = filter.from_ns.value_or(std::numeric_limits<std::int64_t>::min());
      const bool before = filter.to_ns && begin >= *filter.to_ns, after = end != kNoTime && end < from;
      const bool within = begin >= from && (!filter.to_ns || (end != kNoTime && end < *filter.to_ns));
      return keeps ? !before && !after : !within;
    });
  };
  return {};
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
  PROFD_TRY(how.samples, samples_that_pass(selection, stop));
  PROFD_CHECK(choose_moments(selection, stop, how));
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

Result<std::vector<std::uint8_t>> samples_in(const Selection& selection, StopToken& stop) {
  const Column<std::uint32_t>& contexts = selection.profile->samples()->context;
  PROFD_TRY(std::vector<std::uint8_t> passes, samples_that_pass(selection, stop));
  PROFD_TRY(const std::vector<std::uint8_t> stacks, stacks_that_pass(selection, stop));
  passes.resize(contexts.size(), 1);
  if (!stacks.empty())
    for (std::size_t i = 0; i < passes.size(); ++i) passes[i] &= stacks[contexts[i]];
  return passes;
}

}  // namespace profd
