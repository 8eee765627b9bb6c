#include "server/feature/timeline_answer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "server/feature/first_needs.h"
#include "server/feature/flame_colors.h"
#include "server/feature/name_table.h"
#include "server/feature/text_index.h"
#include "server/feature/thread_names.h"

namespace profd {
namespace {

constexpr std::size_t kMostCharts = 32;

bool has_word(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) { return (a | 0x20) == b; };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

// Whether processor time or elapsed time was measured, as far as the metric's name says.
std::string basis_of(const MetricInfo& metric, const TimelineTracks& tracks) {
  if (tracks.time_scale() == 0) return fmt::format("A track is as high as it has {}.", metric.name);
  if (has_word(metric.name, "cpu"))
    return fmt::format("Load is processor time ({}) over time: a full track was on a processor all along.",
                       metric.name);
  if (has_word(metric.name, "wall") || has_word(metric.name, "real") || has_word(metric.name, "elapsed") ||
      tracks.durations())
    return fmt::format(
        "Load is elapsed time ({}) over time, waiting included: a full track had a call open all along.",
        metric.name);
  return fmt::format(
      "Load is {} over time; the file does not say whether that is processor time or elapsed time.",
      metric.name);
}

Value as_value(const Selection& selection, double number) {
  const Value& total = selection.profile->total(selection.metric());
  if (std::holds_alternative<std::int64_t>(total)) return static_cast<std::int64_t>(std::llround(number));
  return number;
}

void name_track(const Profile& profile, const ThreadNames& names, const TimelineTrack& of,
                TimelineAnswer::Track& out) {
  if (of.kind == TrackKind::tasks) {
    out.name = "Asynchronous";
  } else if (of.kind == TrackKind::no_thread) {
    out.name = profile.threads().size() == 0 ? "All threads" : "No thread";
  } else {
    out.name = names.name(of.id);
    if (of.first != of.last) out.filter = names.filter(of.id);
  }
}

// The names of boxes, and what they are coloured by.
class BoxNamesOf {
 public:
  explicit BoxNamesOf(const PreparedView& view) : view_(view), names_(*view.selection) {}

  std::int32_t row_of(const ChartLayout& layout, std::size_t i) {
    if (layout.count[i] > 1) return -1;
    if (layout.key[i] != kNone) return static_cast<std::int32_t>(names_.row_of(layout.key[i]));
    const std::string_view name = view_.selection->profile->strings()[layout.name[i]];
    return static_cast<std::int32_t>(names_.row_of_text(name.empty() ? "(unknown)" : std::string(name)));
  }

  void finish(TimelineAnswer& out) && {
    const KeyTable& keys = *view_.selection->boxes->keys;
    const bool of_function = keys.granularity != Granularity::file && keys.granularity != Granularity::module;
    TextIndex groups(out.groups);
    for (std::size_t row = 0; row < names_.keys().size(); ++row) {
      const Key key = names_.keys()[row];
      const KeyPlace place = key == kNone ? KeyPlace{} : key_place(*view_.selection->profile, keys, key);
      const bool is_named = key == kNone || (of_function && key < keys.first_group());
      out.named.group.push_back(groups.index_of(
          color_group({is_named ? std::string_view(names_.name(row)) : "", place.module, place.file})));
    }
    std::move(names_).finish(out.names, out.labels, out.cuts);
  }

 private:
  const PreparedView& view_;
  NameTable names_;
};

std::string duration_text(std::int64_t ns) {
  return ns == 0 ? "0 ns" : format_duration_ns(ns);
}

std::string text_of(const PreparedView& view, const TrackChart& chart, const ChartLayout& layout,
                    std::size_t i) {
  if (layout.count[i] > 1)
    return fmt::format("{} boxes, {} in {}", format_count(layout.count[i]), duration_text(layout.busy[i]),
                       duration_text(layout.end[i] - layout.begin[i]));
  const std::string extent = duration_text(layout.end[i] - layout.begin[i]);
  if (chart.calls.size() == 0 || chart.calls.has_spans())
    return layout.open[i] != 0 ? extent + " or more, its end is not known" : extent;
  const std::string samples = count_of(layout.samples[i], "sample", "samples");
  const std::string weight = view.whole.text(as_value(*view.selection, layout.value[i]));
  const bool counts = view.whole.unit == "count" && layout.value[i] == static_cast<double>(layout.samples[i]);
  return fmt::format("{}; drawn over {}", counts ? samples : samples + ", " + weight, extent);
}

TimelineAnswer::Chart chart_answer(const PreparedView& view, const TrackChart& chart,
                                   const ChartLayout& layout, std::uint32_t track, std::int64_t from,
                                   BoxNamesOf& names) {
  const Profile& profile = *view.selection->profile;
  TimelineAnswer::Chart out;
  out.track = track;
  out.rows = layout.rows;
  out.lanes = layout.lanes;
  out.min_width = layout.min_width;
  for (std::size_t i = 0; i < layout.size(); ++i) {
    out.boxes.depth.push_back(layout.depth[i]);
    out.boxes.x.emplace_back(layout.begin[i] - from);
    out.boxes.width.emplace_back(layout.end[i] - layout.begin[i]);
    out.boxes.count.push_back(layout.count[i]);
    out.boxes.name.push_back(names.row_of(layout, i));
    out.boxes.value.push_back(layout.count[i] > 1 ? Value{layout.busy[i]}
                              : chart.calls.size() > 0 && !chart.calls.has_spans()
                                  ? as_value(*view.selection, layout.value[i])
                                  : Value{layout.end[i] - layout.begin[i]});
    out.boxes.text.push_back(text_of(view, chart, layout, i));
    const std::uint32_t frame = layout.context[i] == kNone ? kNone : profile.tree().frame[layout.context[i]];
    const bool inlined = frame != kNone && profile.frames().inlined[frame] != 0;
    out.boxes.flags.push_back((layout.open[i] != 0 ? timeline_flag::kOpen : 0) |
                              (inlined ? timeline_flag::kInlined : 0));
    out.boxes.kind.push_back(frame == kNone ? std::nullopt : std::optional(profile.frames().kind[frame]));
  }
  for (std::size_t i = 0; i < layout.gap_begin.size(); ++i) {
    out.gap_x.push_back(layout.gap_begin[i] - from);
    out.gap_width.push_back(layout.gap_end[i] - layout.gap_begin[i]);
    out.gap_text.push_back("no samples for " + duration_text(out.gap_width.back()));
  }
  if (layout.rows_left_out > 0)
    out.notes.push_back(fmt::format("{} more are not here: there are too many boxes; look at a shorter time.",
                                    count_of(layout.rows_left_out, "row", "rows")));
  if (chart.no_lane > 0)
    out.notes.push_back(fmt::format("{} of the track are not here: more than {} overlap.",
                                    count_of(chart.no_lane, "call", "calls"), kMaxLanes));
  return out;
}

}  // namespace

Needs needs_of(const TimelineRequest& request) {
  return {{Part::selection, request.spec}};
}

std::string moment_text(std::int64_t ns, std::int64_t apart) {
  // All of an axis has one unit, whatever is near 0.
  const double size = std::max(std::fabs(static_cast<double>(ns)), static_cast<double>(apart) * 100);
  const auto [unit, name] = size >= 1e9   ? std::pair(1e9, "s")
                            : size >= 1e6 ? std::pair(1e6, "ms")
                            : size >= 1e3 ? std::pair(1e3, "µs")
                                          : std::pair(1.0, "ns");
  const double digits = std::ceil(std::log10(unit / static_cast<double>(std::max<std::int64_t>(apart, 1))));
  if (ns == 0) return fmt::format("0 {}", name);
  return fmt::format("{:.{}f} {}", static_cast<double>(ns) / unit,
                     static_cast<int>(std::clamp(digits, 0.0, std::log10(unit))), name);
}

Result<TimelineAnswer> timeline_answer(Views& views, const TimelineRequest& request, const StopToken& stop) {
  ViewSpec spec = request.spec;
  spec.shape = Shape::top_down;
  spec.focus.clear();
  const OpenProfile& open = *request.open;
  PROFD_TRY(const PreparedView view, prepare_view(views, open, spec, stop));
  PROFD_TRY(const std::shared_ptr<const TimelineTracks> tracks,
            views.kept<TimelineTracks>(open, spec, "timeline", stop, [&](const StopToken& token) {
              return shared(TimelineTracks::of(view.selection, token));
            }));
  TimelineAnswer out;
  out.head = head_of(open, spec, view);
  out.begin = tracks->begin();
  out.end = tracks->end();
  out.from = out.begin;
  out.to = out.end;
  // What a window of the view leaves out there is no use in looking at.
  for (const Filter& filter : spec.filters) {
    if (filter.by != FilterBy::time || filter.op != FilterOp::keep) continue;
    if (filter.from_ns) out.from = std::max(out.from, *filter.from_ns);
    if (filter.to_ns && !filter.every_ns) out.to = std::max(out.from + 1, std::min(out.to, *filter.to_ns));
  }
  out.from = request.from.value_or(out.from);
  out.to = request.to.value_or(out.to);
  if (out.to <= out.from)
    return fail(ErrorCode::invalid, "the window of time ends before it begins, or with it");
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 4;
  if (out.from < -kFar || out.to > kFar) return fail(ErrorCode::invalid, "the window of time is too long");
  const std::int64_t length = out.to - out.from;
  out.columns = static_cast<std::uint32_t>(std::min<std::int64_t>(std::max(1u, request.columns), length));
  out.window_text = fmt::format("{} to {}, {} long", moment_text(out.from, length / 1000),
                                moment_text(out.to, length / 1000), duration_text(length));
  if (out.from >= -kMaxInstant && out.to <= kMaxInstant) {
    Filter window;
    window.by = FilterBy::time;
    window.from_ns = out.from;
    window.to_ns = out.to;
    out.filter = to_text(window);
  }
  const MetricInfo& metric = open.profile->metrics()[view.selection->metric().v];
  out.basis = basis_of(metric, *tracks);
  if (tracks->without_time() != 0)
    out.head.warnings.insert(out.head.warnings.begin(),
                             fmt::format("{} belongs to samples without a time, which are on no track",
                                         view.whole.text(as_value(*view.selection, tracks->without_time()))));

  const std::size_t listed = std::min<std::size_t>(tracks->tracks().size(), request.max_tracks);
  const ThreadNames thread_names(*open.profile);
  double most = 0, left = 0;
  for (std::size_t i = 0; i < tracks->tracks().size(); ++i) {
    const TimelineTrack& track = tracks->tracks()[i];
    if (i >= listed) {
      left += track.total;
      continue;
    }
    PROFD_CHECK(stop.status());
    TimelineAnswer::Track& to = out.tracks.emplace_back();
    to.id = track.id;
    to.kind = track.kind;
    name_track(*open.profile, thread_names, track, to);
    to.load = tracks->load(track, out.from, out.to, out.columns);
    const double held = tracks->load(track, out.from, out.to, 1)[0];
    to.amount = amount_of(view.whole, as_value(*view.selection, held));
    to.load_text = tracks->time_scale() == 0
                       ? to.amount.text
                       : format_share(Value{held * static_cast<double>(tracks->time_scale())},
                                      Value{static_cast<double>(length)});
    for (const double value : to.load) most = std::max(most, value);
  }
  if (listed < tracks->tracks().size())
    out.left =
        remainder_of(view.whole, tracks->tracks().size() - listed, as_value(*view.selection, left), listed);
  const double column = static_cast<double>(length) / out.columns;
  out.full = tracks->time_scale() == 0 ? most : column / static_cast<double>(tracks->time_scale());
  out.full_text = fmt::format("{} in {}", view.whole.text(Value{out.full}),
                              duration_text(static_cast<std::int64_t>(column)));

  std::vector<std::uint32_t> charts;
  if (request.charts)
    charts = *request.charts;
  else
    charts.push_back(tracks->tracks().front().id);
  if (charts.size() > kMostCharts)
    return fail(ErrorCode::limit, fmt::format("a timeline has at most {} flame charts", kMostCharts));
  PROFD_TRY(const std::shared_ptr<const TimelineBoxClasses> boxes,
            views.kept<TimelineBoxClasses>(open, spec, "timeline boxes", stop, [&](const StopToken& token) {
              return timeline_classes(*view.selection, token);
            }));
  BoxNamesOf names(view);
  for (const std::uint32_t id : charts) {
    const TimelineTrack* const track = tracks->find(id);
    if (track == nullptr) return fail(ErrorCode::not_found, fmt::format("there is no track {}", id));
    PROFD_TRY(
        const std::shared_ptr<const TrackChart> chart,
        views.kept<TrackChart>(open, spec, fmt::format("timeline {}", id), stop, [&](const StopToken& token) {
          return chart_of(view.selection, tracks, boxes, *track, token);
        }));
    ChartRequest asked;
    asked.from = out.from;
    asked.to = out.to;
    asked.width_px = request.width_px;
    asked.min_width_px = request.min_width_px;
    asked.max_boxes = std::max(1u, request.max_boxes / static_cast<std::uint32_t>(charts.size()));
    PROFD_TRY(const ChartLayout layout, layout_chart(*chart, asked, stop));
    out.charts.push_back(chart_answer(view, *chart, layout, id, out.from, names));
  }
  std::move(names).finish(out);
  return out;
}

}  // namespace profd
