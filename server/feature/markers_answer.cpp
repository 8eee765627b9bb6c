#include "server/feature/markers_answer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/layout/marker_lanes.h"
#include "server/feature/text.h"
#include "server/feature/text_index.h"
#include "server/feature/thread_names.h"
#include "server/feature/time_window.h"
#include "server/feature/timeline_answer.h"

namespace profd {
namespace {

// What both answers begin with: the view, and the markers that are meant.
struct MeantMarkers {
  PreparedView view;
  RecordedTime time;
  Markers markers;
  FoundMarkers found;
};

Result<MeantMarkers> meant_markers(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                   const std::string& search, MarkerQuery query, const StopToken& stop) {
  MeantMarkers out;
  PROFD_TRY(out.view, prepare_view(views, open, spec, stop));
  const Profile& profile = *open.profile;
  PROFD_TRY(out.time, recorded_time(profile, stop));
  out.markers = Markers::of(profile);
  PROFD_TRY(query.search, MarkerSearch::parse(search));
  PROFD_TRY(const Moments passes, moments_that_pass(*out.view.selection, stop));
  PROFD_TRY(out.found, find_markers(profile, out.markers, query, passes, out.time.end, stop));
  return out;
}

ViewSpec without_shape(const ViewSpec& spec) {
  ViewSpec out = spec;
  out.shape = Shape::top_down;
  out.focus.clear();
  return out;
}

std::vector<MarkerField> fields_of(const Profile& profile, std::uint32_t set) {
  std::vector<MarkerField> out;
  const LabelTable& labels = profile.labels();
  if (set == 0) return out;
  for (std::uint32_t entry = labels.first[set]; entry < labels.first[set + 1]; ++entry) {
    const bool counted = labels.is_number[entry] != 0;
    out.push_back({std::string(profile.strings()[labels.key[entry]]),
                   counted && !profile.strings()[labels.unit[entry]].empty()
                       ? format_value(Value{labels.number[entry]}, profile.strings()[labels.unit[entry]])
                       : field_text(profile, entry)});
  }
  return out;
}

MarkerRows rows_of(const Profile& profile, const MeantMarkers& meant, std::size_t first, std::size_t last) {
  MarkerRows out;
  const StringTable& strings = profile.strings();
  const ThreadNames threads(profile);
  // Moments that stand below each other are told apart.
  std::int64_t apart = std::max<std::int64_t>(1, (meant.time.end - meant.time.begin) / 1'000'000);
  for (std::size_t i = first + 1; i < last; ++i) {
    const std::int64_t gap =
        std::abs(meant.markers.begin(meant.found.ids[i]) - meant.markers.begin(meant.found.ids[i - 1]));
    if (gap > 0) apart = std::min(apart, gap);
  }
  for (std::size_t i = first; i < last; ++i) {
    const std::uint32_t id = meant.found.ids[i], thread = meant.markers.thread(id);
    const bool open = meant.markers.end(id) == kNoTime;
    const std::int64_t begin = meant.markers.begin(id), length = meant.markers.length(id, meant.time.end);
    out.id.push_back(id);
    out.name.emplace_back(strings[meant.markers.name(id)]);
    out.category.emplace_back(strings[meant.markers.category(id)]);
    out.thread.push_back(thread == kNone ? std::string() : threads.name(thread));
    out.begin.push_back(begin);
    out.end.push_back(begin + length);
    out.begin_text.push_back(moment_text(begin, apart));
    out.length_text.push_back(open ? length_text(length) + " or more" : length_text(length));
    out.flags.push_back(open ? timeline_flag::kOpen : 0);
    out.fields.push_back(fields_of(profile, meant.markers.label_set(id)));
  }
  return out;
}

MarkerGroups groups_of(const Profile& profile, const std::vector<MarkerGroup>& groups, std::size_t first,
                       std::size_t last) {
  MarkerGroups out;
  for (std::size_t i = first; i < last; ++i) {
    const MarkerGroup& group = groups[i];
    out.name.emplace_back(profile.strings()[group.name]);
    out.category.emplace_back(profile.strings()[group.category]);
    out.count.push_back(group.count);
    out.count_text.push_back(format_count(group.count));
    out.length.push_back(group.length);
    out.length_text.push_back(length_text(group.length));
    out.mean_text.push_back(length_text(std::llround(group.mean())));
    out.most_text.push_back(length_text(group.most));
    out.first.push_back(group.first);
  }
  return out;
}

std::string sentence_of(const MarkersAnswer& answer, const FoundMarkers& found) {
  if (answer.markers == 0) return "The profile has no markers.";
  std::string out = answer.matches == answer.markers
                        ? count_of(answer.markers, "marker", "markers")
                        : fmt::format("{} of {}", format_count(answer.matches),
                                      count_of(answer.markers, "marker", "markers"));
  if (found.length > 0) out += fmt::format(", {} in all", format_duration_ns(found.length));
  if (found.n_open > 0) out += fmt::format(", {} without an end", format_count(found.n_open));
  return out;
}

std::string box_text(const Profile& profile, const Markers& markers, const MarkerLanes& lanes,
                     std::size_t i) {
  if (lanes.count[i] > 1)
    return fmt::format("{} markers in {}", format_count(lanes.count[i]),
                       format_duration_ns(std::max<std::int64_t>(1, lanes.end[i] - lanes.begin[i])));
  const std::uint32_t id = lanes.id[i];
  std::string out = length_text(lanes.end[i] - lanes.begin[i]);
  if (markers.end(id) == kNoTime) out += " or more, its end is not known";
  const std::vector<MarkerField> fields = fields_of(profile, markers.label_set(id));
  constexpr std::size_t kMostFields = 6;
  for (std::size_t f = 0; f < fields.size() && f < kMostFields; ++f)
    out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", fields[f].key, fields[f].text);
  if (fields.size() > kMostFields) out += fmt::format("; {} more", fields.size() - kMostFields);
  return out;
}

}  // namespace

Needs needs_of(const MarkersRequest& request) {
  return {{Part::selection, request.spec}};
}

Needs needs_of(const MarkerTracksRequest& request) {
  return {{Part::selection, request.spec}};
}

Result<MarkersAnswer> markers_answer(Views& views, const MarkersRequest& request, const StopToken& stop) {
  const OpenProfile& open = *request.open;
  const Profile& profile = *open.profile;
  const ViewSpec spec = without_shape(request.spec);
  MarkerQuery query;
  query.min_length = request.min_length;
  query.from = request.from;
  query.to = request.to;
  PROFD_TRY(MeantMarkers meant, meant_markers(views, open, spec, request.search, std::move(query), stop));
  MarkersAnswer out;
  out.head = head_of(open, spec, meant.view);
  out.markers = meant.markers.size();
  out.matches = meant.found.ids.size();
  out.length = meant.found.length;
  out.text = sentence_of(out, meant.found);
  out.begin = meant.time.begin;
  out.end = meant.time.end;
  out.offset = request.offset;
  const MarkerOrder order = request.sort.value_or(request.by_name ? MarkerOrder::length : MarkerOrder::begin);
  const bool amounts = order == MarkerOrder::length || order >= MarkerOrder::count;
  const bool descending = request.descending.value_or(amounts);
  const auto page = [&](std::size_t n) {
    const std::size_t first = std::min<std::size_t>(request.offset, n);
    return std::pair(first, first + std::min<std::size_t>(request.limit, n - first));
  };
  if (request.by_name) {
    PROFD_TRY(const std::vector<MarkerGroup> groups,
              group_markers(profile, meant.markers, meant.found.ids, order, descending, stop));
    out.rows = groups.size();
    const auto [first, last] = page(groups.size());
    out.groups = groups_of(profile, groups, first, last);
  } else {
    out.rows = meant.found.ids.size();
    const auto [first, last] = page(meant.found.ids.size());
    sort_markers(profile, meant.markers, meant.found.ids, order, descending, last, meant.time.end);
    out.table = rows_of(profile, meant, first, last);
  }
  return out;
}

Result<MarkerTracksAnswer> marker_tracks_answer(Views& views, const MarkerTracksRequest& request,
                                                const StopToken& stop) {
  const OpenProfile& open = *request.open;
  const Profile& profile = *open.profile;
  const ViewSpec spec = without_shape(request.spec);
  MarkerQuery query;
  query.min_length = request.min_length;
  PROFD_TRY(const MeantMarkers meant,
            meant_markers(views, open, spec, request.search, std::move(query), stop));
  MarkerTracksAnswer out;
  out.head = head_of(open, spec, meant.view);
  out.begin = meant.time.begin;
  out.end = meant.time.end;
  PROFD_TRY(const TimeWindow window, time_window(out.begin, out.end, request.from, request.to));
  out.from = window.from;
  out.to = window.to;

  // By thread, that of none last; each ascending in time.
  std::map<std::uint32_t, std::vector<std::uint32_t>> of_thread;
  for (const std::uint32_t id : meant.found.ids) of_thread[meant.markers.thread(id)].push_back(id);
  std::vector<std::uint32_t> threads;
  for (auto& [thread, ids] : of_thread) {
    threads.push_back(thread);
    std::stable_sort(ids.begin(), ids.end(), [&](std::uint32_t a, std::uint32_t b) {
      return meant.markers.begin(a) < meant.markers.begin(b);
    });
  }
  // The same tracks whatever is looked at.
  std::stable_sort(threads.begin(), threads.end(), [&](std::uint32_t a, std::uint32_t b) {
    return of_thread[a].size() > of_thread[b].size();
  });
  out.track_count = static_cast<std::uint32_t>(threads.size());
  const std::size_t listed = std::min<std::size_t>(threads.size(), request.max_tracks);
  std::uint64_t left = 0;
  for (std::size_t i = listed; i < threads.size(); ++i) left += of_thread[threads[i]].size();
  if (listed < threads.size())
    out.left_text = fmt::format("{} more with {}", count_of(threads.size() - listed, "track", "tracks"),
                                count_of(left, "marker", "markers"));

  MarkerLanesRequest asked;
  asked.from = out.from;
  asked.to = out.to;
  asked.last = out.end;
  asked.min_width = static_cast<std::int64_t>(
      std::ceil(static_cast<double>(out.to - out.from) / request.width_px * request.min_width_px));
  asked.max_boxes =
      std::max(1u, request.max_boxes / static_cast<std::uint32_t>(std::max<std::size_t>(1, listed)));
  const ThreadNames names(profile);
  TextIndex texts(out.names);
  StopToken token = stop;
  for (std::size_t i = 0; i < listed; ++i) {
    const std::uint32_t thread = threads[i];
    PROFD_TRY(const MarkerLanes lanes, marker_lanes(meant.markers, of_thread[thread], asked, token));
    MarkerTracksAnswer::Track& track = out.tracks.emplace_back();
    track.name = thread == kNone ? std::string("No thread") : names.name(thread);
    if (thread != kNone) track.filter = names.filter(thread);
    track.lanes = lanes.n_lanes;
    track.count = lanes.n_markers;
    track.no_lane = lanes.n_no_lane;
    MarkerBoxes& boxes = track.boxes;
    for (std::size_t b = 0; b < lanes.size(); ++b) {
      const bool one = lanes.count[b] == 1;
      boxes.lane.push_back(lanes.lane[b]);
      boxes.x.push_back(lanes.begin[b] - out.from);
      boxes.width.push_back(lanes.end[b] - lanes.begin[b]);
      boxes.count.push_back(lanes.count[b]);
      boxes.id.push_back(one ? std::int64_t{lanes.id[b]} : -1);
      boxes.name.push_back(lanes.name[b].valid() ? texts.index_of(profile.strings()[lanes.name[b]]) : -1);
      boxes.text.push_back(box_text(profile, meant.markers, lanes, b));
      boxes.flags.push_back(one && meant.markers.end(lanes.id[b]) == kNoTime ? timeline_flag::kOpen : 0);
    }
  }
  return out;
}

}  // namespace profd
