// Making a track ready to be drawn.
#include <algorithm>
#include <optional>
#include <utility>

#include "core/layout/timeline.h"
#include "core/view/durations.h"
#include "core/view/passing.h"

namespace profd {
namespace {

// Spans lie in 31 bits of a row.
constexpr std::size_t kMostSpans = std::size_t{1} << 31;

class ChartMaker {
 public:
  ChartMaker(TrackChart& out, const TimelineTrack& track, StopToken& stop)
      : out_(out),
        track_(track),
        stop_(stop),
        profile_(*out.selection->profile),
        spans_(profile_.timeline()->spans) {}

  Result<void> make() {
    const bool has_spans = track_.first_span != track_.last_span;
    if (has_spans && track_.last_span > kMostSpans)
      return fail(ErrorCode::limit,
                  "a timeline shows the first 2,147,483,648 calls of a profile; this one has more");
    if (has_spans) {
      open_end_ = last_event();
      PROFD_TRY(stacks_, stacks_that_pass(*out_.selection, stop_));
      PROFD_TRY(moments_, moments_that_pass(*out_.selection, stop_));
      out_.first_span = track_.first_span;
    }
    if (track_.kind == TrackKind::tasks) {
      std::vector<std::uint32_t> all;
      for (std::uint32_t span = track_.first_span; span < track_.last_span; ++span)
        if (is_shown(span)) all.push_back(span);
      std::stable_sort(all.begin(), all.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return spans_.begin[a] < spans_.begin[b]; });
      out_.calls = TrackRows::of_spans(out_.selection->profile, open_end_);
      PROFD_CHECK(out_.calls.finish(stop_));
      return fill_lanes(all);
    }
    if (has_spans && (track_.first == track_.last || (out_.tracks->traced() && are_calls())))
      return make_calls();
    return make_samples();
  }

 private:
  [[nodiscard]] std::int64_t last_event() const {
    std::int64_t last = spans_.begin[track_.first_span];
    for (std::uint32_t span = track_.first_span; span < track_.last_span; ++span)
      last = std::max({last, spans_.begin[span], spans_.end[span] == kNoTime ? last : spans_.end[span]});
    return last;
  }
  [[nodiscard]] std::int64_t end_of(std::uint32_t span) const {
    return spans_.end[span] == kNoTime ? open_end_ : spans_.end[span];
  }

  // Whether the spans of the thread are the calls of its stacks: they lie inside each other as deep as their
  // contexts are. What only happened somewhere, as a wait, has a whole stack and nothing around it.
  [[nodiscard]] bool are_calls() const {
    const ContextTree& tree = profile_.tree();
    BigVector<std::uint32_t> depth(tree.size(), 0);
    for (std::uint32_t c = 1; c < depth.size(); ++c) depth[c] = depth[tree.parent[c]] + 1;
    std::vector<std::int64_t> open;
    std::uint64_t as_deep = 0, others = 0;
    for (std::uint32_t span = track_.first_span; span < track_.last_span; ++span) {
      while (!open.empty() && open.back() <= spans_.begin[span]) open.pop_back();
      open.push_back(end_of(span));
      const std::uint32_t context = value_or(spans_.context, span, kNone);
      if (context == kNone || depth[context] == open.size())
        ++as_deep;
      else
        ++others;
    }
    return as_deep >= others;
  }

  // Whether the span is a box: its frame is not hidden, nor part of the box of its caller.
  [[nodiscard]] bool is_box(std::uint32_t span) const {
    const std::uint32_t context = value_or(spans_.context, span, kNone);
    return context == kNone || out_.selection->boxes->owner_of(context) == context;
  }
  [[nodiscard]] bool passes(std::uint32_t span) const {
    const std::uint32_t context = value_or(spans_.context, span, kNone);
    if (context != kNone && !stacks_.empty() && stacks_[context] == 0) return false;
    return !moments_ || moments_(value_or(spans_.thread, span, kNone), spans_.begin[span], spans_.end[span]);
  }
  [[nodiscard]] bool is_shown(std::uint32_t span) const { return is_box(span) && passes(span); }

  Result<void> make_calls() {
    TrackRows& rows = out_.calls = TrackRows::of_spans(out_.selection->profile, open_end_);
    const bool some_pass = !stacks_.empty() || moments_;
    if (some_pass) out_.outer.assign(track_.last_span - track_.first_span, kNone);
    struct Open {
      std::uint32_t span;
      std::int64_t end;
      bool passes;
    };
    std::vector<Open> open;
    std::vector<std::uint32_t> crossing;
    std::uint32_t shown =
        0;  // calls that are seen: all that are open, or none where the innermost does not pass
    const auto end_until = [&](std::int64_t time, bool all) {
      while (!open.empty() && (all || open.back().end <= time)) {
        const std::uint32_t span = open.back().span;
        open.pop_back();
        const std::uint32_t now =
            !open.empty() && open.back().passes ? static_cast<std::uint32_t>(open.size()) : 0;
        rows.add_event(span, true, std::min(shown, now), now);
        shown = now;
      }
    };
    for (std::uint32_t span = track_.first_span; span < track_.last_span; ++span) {
      if (stop_.check()) return fail(ErrorCode::cancelled, "cancelled");
      if (!is_box(span)) continue;
      end_until(spans_.begin[span], false);
      const std::int64_t end = std::max(end_of(span), spans_.begin[span]);
      if (!open.empty() && end > open.back().end) {
        if (passes(span)) crossing.push_back(span);
        continue;
      }
      if (some_pass && !open.empty()) out_.outer[span - track_.first_span] = open.back().span;
      open.push_back({span, end, passes(span)});
      const std::uint32_t now = open.back().passes ? static_cast<std::uint32_t>(open.size()) : 0;
      rows.add_event(span, false, now == 0 ? 0 : std::min(shown, now - 1), now);
      shown = now;
    }
    end_until(0, true);
    PROFD_CHECK(rows.finish(stop_));
    return fill_lanes(crossing);
  }

  // Each in the first lane that is free when it begins. In order of their begins.
  Result<void> fill_lanes(const std::vector<std::uint32_t>& spans) {
    std::vector<std::int64_t> free_from;
    for (const std::uint32_t span : spans) {
      if (stop_.check()) return fail(ErrorCode::cancelled, "cancelled");
      const auto lane = static_cast<std::size_t>(
          std::find_if(free_from.begin(), free_from.end(),
                       [&](std::int64_t from) { return from <= spans_.begin[span]; }) -
          free_from.begin());
      if (lane == kMaxLanes) {
        ++out_.no_lane;
        continue;
      }
      if (lane == free_from.size()) {
        free_from.push_back(0);
        out_.lanes.push_back(TrackRows::of_spans(out_.selection->profile, open_end_));
      }
      free_from[lane] = std::max(end_of(span), spans_.begin[span]);
      out_.lanes[lane].add_event(span, false, 0, 1);
      out_.lanes[lane].add_event(span, true, 0, 0);
    }
    for (TrackRows& lane : out_.lanes) PROFD_CHECK(lane.finish(stop_));
    return {};
  }

  Result<void> make_samples() {
    const SampleTable& samples = *profile_.samples();
    const SampleOrder& order = profile_.timeline()->samples;
    const PathClasses& classes = out_.boxes->classes;
    const std::optional<MetricId> lasts = out_.tracks->lasts();
    const ValueColumn& values = samples.values[out_.selection->metric().v];
    const ValueColumn* const lengths = lasts ? &samples.values[lasts->v] : nullptr;
    const auto is_some = [](const ValueColumn& column, std::uint32_t row) {
      return std::visit([&](const auto& numbers) { return numbers[row] != 0; }, column);
    };
    // Samples of other events are none of this metric.
    const auto counts = [&](std::uint32_t row) {
      return is_some(values, row) || (lengths != nullptr && is_some(*lengths, row));
    };
    std::int64_t longest = 2 * out_.tracks->period();
    if (lengths == nullptr && longest == 0) longest = 2 * median_gap(counts);
    TrackRows& rows = out_.calls =
        TrackRows::of_samples(out_.selection->profile, track_.first, longest, lengths,
                              lasts ? nanoseconds_in(profile_.metrics()[lasts->v].unit) : 0);
    std::uint32_t before = 0;
    for (std::uint32_t position = track_.first; position < track_.last; ++position) {
      if (stop_.check()) return fail(ErrorCode::cancelled, "cancelled");
      const std::uint32_t row = order.row_at(position);
      if (!counts(row)) continue;
      const std::uint32_t now = out_.tracks->passes(position) ? classes.of_context[samples.context[row]] : 0;
      const std::int64_t time = samples.time[row];
      const bool goes_on = rows.size() > 0 && rows.end_before(rows.size() - 1, time) == time;
      rows.add_sample(position, goes_on ? common(before, now) : 0, out_.boxes->depth[now]);
      before = now;
    }
    return rows.finish(stop_);
  }

  // How deep two classes are the same.
  [[nodiscard]] std::uint32_t common(std::uint32_t a, std::uint32_t b) const {
    // A class above another has a smaller number.
    while (a != b) (a > b ? a : b) = out_.boxes->classes.parent[a > b ? a : b];
    return out_.boxes->depth[a];
  }

  template <class Counts>
  [[nodiscard]] std::int64_t median_gap(const Counts& counts) const {
    const SampleTable& samples = *profile_.samples();
    std::vector<std::int64_t> gaps;
    std::int64_t before = kNoTime;
    for (std::uint32_t position = track_.first; position < track_.last; ++position) {
      const std::uint32_t row = profile_.timeline()->samples.row_at(position);
      if (!counts(row)) continue;
      if (before != kNoTime && samples.time[row] > before) gaps.push_back(samples.time[row] - before);
      before = samples.time[row];
    }
    if (gaps.empty()) return 0;
    const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>((gaps.size() - 1) / 2);
    std::nth_element(gaps.begin(), middle, gaps.end());
    return *middle;
  }

  TrackChart& out_;
  const TimelineTrack& track_;
  StopToken& stop_;
  const Profile& profile_;
  const SpanTable& spans_;
  std::int64_t open_end_ = 0;
  std::vector<std::uint8_t> stacks_;
  Moments moments_;
};

}  // namespace

Result<std::shared_ptr<const TimelineBoxClasses>> timeline_classes(const Selection& selection,
                                                                   StopToken stop) {
  auto out = std::make_shared<TimelineBoxClasses>();
  PROFD_TRY(out->classes, classes_of(*selection.boxes, std::move(stop)));
  out->depth.resize(out->classes.size(), 0);
  for (std::uint32_t c = 1; c < out->classes.size(); ++c)
    out->depth[c] =
        static_cast<std::uint16_t>(std::min(out->depth[out->classes.parent[c]] + 1u, kDeepestRow));
  return std::shared_ptr<const TimelineBoxClasses>(std::move(out));
}

std::size_t TimelineBoxClasses::memory() const {
  return sizeof(TimelineBoxClasses) + classes.of_context.size() * sizeof(std::uint32_t) +
         classes.size() * (3 * sizeof(std::uint32_t) + sizeof(std::uint16_t));
}

Result<std::shared_ptr<const TrackChart>> chart_of(const SelectionPtr& selection,
                                                   std::shared_ptr<const TimelineTracks> tracks,
                                                   std::shared_ptr<const TimelineBoxClasses> boxes,
                                                   const TimelineTrack& track, StopToken stop) {
  auto out = std::make_shared<TrackChart>();
  out->selection = selection;
  out->tracks = std::move(tracks);
  out->boxes = std::move(boxes);
  PROFD_CHECK(ChartMaker(*out, track, stop).make());
  return std::shared_ptr<const TrackChart>(std::move(out));
}

std::size_t TrackChart::memory() const {
  std::size_t bytes = sizeof(TrackChart) + calls.memory() + outer.size() * sizeof(std::uint32_t);
  for (const TrackRows& lane : lanes) bytes += lane.memory();
  return bytes;
}

}  // namespace profd
