#include "server/dialect/psp/timeline.h"

#include <utility>

#include "core/view/name_cuts.h"
#include "server/dialect/psp/convert.h"
#include "server/dialect/psp/convert_views.h"
#include "server/dialect/psp/view_head.h"
#include "server/feature/fitted_name.h"

namespace profd {
namespace {

static_assert(timeline_flag::kOpen == static_cast<std::uint32_t>(psp::TimelineFlag::open));
static_assert(timeline_flag::kInlined == static_cast<std::uint32_t>(psp::TimelineFlag::inlined));

psp::TimelineTrackKind kind_of(TrackKind kind) {
  switch (kind) {
    case TrackKind::no_thread:
      return psp::TimelineTrackKind::no_thread;
    case TrackKind::tasks:
      return psp::TimelineTrackKind::tasks;
    case TrackKind::thread:
      break;
  }
  return psp::TimelineTrackKind::thread;
}

template <class T>
std::vector<psp::Number> as_numbers(const std::vector<T>& values) {
  std::vector<psp::Number> out;
  out.reserve(values.size());
  for (const T& value : values) out.push_back(profd::to_psp(Value{value}));
  return out;
}

psp::TimelineBoxes to_psp(TimelineBoxes boxes) {
  psp::TimelineBoxes out;
  out.depth = std::move(boxes.depth);
  out.x = as_numbers(boxes.x);
  out.width = as_numbers(boxes.width);
  out.count.assign(boxes.count.begin(), boxes.count.end());
  out.name = std::move(boxes.name);
  out.value = as_numbers(boxes.value);
  out.text = std::move(boxes.text);
  out.flags = std::move(boxes.flags);
  for (const auto& kind : boxes.kind) out.kind.push_back(kind ? to_psp(*kind) : psp::FrameKind::unknown);
  return out;
}

}  // namespace

psp::TimelineResult to_psp(TimelineAnswer answer) {
  psp::TimelineResult out;
  write_head(std::move(answer.head), out);
  out.begin = profd::to_psp(Value{answer.begin});
  out.end = profd::to_psp(Value{answer.end});
  out.from = profd::to_psp(Value{answer.from});
  out.to = profd::to_psp(Value{answer.to});
  out.window_text = std::move(answer.window_text);
  out.filter = said(std::move(answer.filter));
  out.basis = std::move(answer.basis);
  out.full = profd::to_psp(Value{answer.full});
  out.full_text = std::move(answer.full_text);
  out.columns = answer.columns;
  for (TimelineAnswer::Track& track : answer.tracks) {
    psp::TimelineTrack to;
    to.id = track.id;
    to.kind = kind_of(track.kind);
    to.name = std::move(track.name);
    to.filter = said(std::move(track.filter));
    to.amount = to_psp(track.amount);
    to.load_text = std::move(track.load_text);
    to.load = as_numbers(track.load);
    out.tracks.push_back(std::move(to));
  }
  if (answer.left) {
    psp::TableRemainder& left = out.left.emplace();
    left.count = static_cast<std::int64_t>(answer.left->count);
    left.amount = to_psp(answer.left->amount);
    left.offset = answer.left->offset;
    left.text = std::move(answer.left->text);
  }
  out.cuts.emplace();
  for (std::size_t i = 0; i < answer.cuts.size(); ++i)
    out.cuts->push_back(cuts_in_utf16(answer.labels[i], std::move(answer.cuts[i])));
  out.names = std::move(answer.names);
  out.labels = std::move(answer.labels);
  out.groups = std::move(answer.groups);
  out.named.emplace().group = std::move(answer.named.group);
  for (TimelineAnswer::Chart& chart : answer.charts) {
    psp::TimelineChart to;
    to.track = chart.track;
    to.rows = chart.rows;
    to.lanes = chart.lanes;
    to.min_width = profd::to_psp(Value{chart.min_width});
    to.boxes = to_psp(std::move(chart.boxes));
    to.gaps.x = as_numbers(chart.gap_x);
    to.gaps.width = as_numbers(chart.gap_width);
    to.gaps.text = std::move(chart.gap_text);
    to.notes = std::move(chart.notes);
    out.charts.push_back(std::move(to));
  }
  return out;
}

void bind_timeline(SessionContext& session, protocol::Binder& binder) {
  binder.request<psp::TimelineRequest>([&session](psp::TimelineParams params,
                                                  protocol::Reply<psp::TimelineRequest> reply) {
    auto named = from_psp(params.spec, "params.spec");
    if (!named) return reply.error(named.error());
    session.decide_mine(named->spec.filters);
    const auto open = session.profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
    if (!open) return reply.error(open.error());
    if (params.charts && params.revision)
      if (auto error = outdated(**open, params.revision, "charts")) return reply.error(*error);
    TimelineRequest request;
    request.open = *open;
    request.spec = std::move(named->spec);
    if (params.from) request.from = params.from->as_int64();
    if (params.to) request.to = params.to->as_int64();
    request.width_px = params.width;
    request.min_width_px = params.min_width;
    request.max_boxes = params.max_boxes;
    request.charts = std::move(params.charts);
    request.max_tracks = params.tracks;
    request.columns = params.columns;
    session.answer<psp::TimelineRequest>(
        std::move(reply), std::move(request),
        [](Views& views, const TimelineRequest& asked, const StopToken& stop) {
          return timeline_answer(views, asked, stop).map([](TimelineAnswer&& answer) {
            return to_psp(std::move(answer));
          });
        },
        params.panel_id.value_or(""));
  });
}

}  // namespace profd
