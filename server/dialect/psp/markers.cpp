#include "server/dialect/psp/markers.h"

#include <utility>

#include "server/dialect/psp/convert.h"
#include "server/dialect/psp/convert_views.h"
#include "server/dialect/psp/view_head.h"

namespace profd {
namespace {

template <class T>
std::vector<psp::Number> all_numbers(const std::vector<T>& values) {
  std::vector<psp::Number> out;
  out.reserve(values.size());
  for (const T& value : values) out.push_back(profd::to_psp(Value{value}));
  return out;
}

template <class To, class From>
std::vector<To> all_as(const std::vector<From>& values) {
  return std::vector<To>(values.begin(), values.end());
}

std::optional<MarkerOrder> order_of(const std::optional<psp::OpenEnum<psp::MarkerSort>>& sort) {
  if (!sort || !sort->known()) return std::nullopt;
  switch (sort->value()) {
    case psp::MarkerSort::begin:
      return MarkerOrder::begin;
    case psp::MarkerSort::length:
      return MarkerOrder::length;
    case psp::MarkerSort::name:
      return MarkerOrder::name;
    case psp::MarkerSort::category:
      return MarkerOrder::category;
    case psp::MarkerSort::thread:
      return MarkerOrder::thread;
    case psp::MarkerSort::count:
      return MarkerOrder::count;
    case psp::MarkerSort::mean:
      return MarkerOrder::mean;
    case psp::MarkerSort::most:
      return MarkerOrder::most;
    default:
      return std::nullopt;
  }
}

// What the parameters of all have in common, and the profile that is meant; nothing when the reply is given.
template <class Request, class Params, class Reply>
bool take_view(SessionContext& session, const Params& params, Reply& reply, Request& request) {
  auto named = from_psp(params.spec, "params.spec");
  if (!named) {
    reply.error(named.error());
    return false;
  }
  session.decide_mine(named->spec.filters);
  const auto open = session.profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
  if (!open) {
    reply.error(open.error());
    return false;
  }
  request.open = *open;
  request.spec = std::move(named->spec);
  if (params.from) request.from = params.from->as_int64();
  if (params.to) request.to = params.to->as_int64();
  return true;
}

template <class Answer>
auto as_psp(Result<Answer> answer) {
  return std::move(answer).map([](Answer&& made) { return to_psp(std::move(made)); });
}

template <class Out, class Answer>
void write_window(const Answer& answer, Out& out) {
  out.begin = profd::to_psp(Value{answer.begin});
  out.end = profd::to_psp(Value{answer.end});
  out.from = profd::to_psp(Value{answer.from});
  out.to = profd::to_psp(Value{answer.to});
}

}  // namespace

psp::MarkersResult to_psp(MarkersAnswer answer) {
  psp::MarkersResult out;
  write_head(std::move(answer.head), out);
  out.marker_count = static_cast<std::int64_t>(answer.markers);
  out.match_count = static_cast<std::int64_t>(answer.matches);
  out.length = profd::to_psp(Value{answer.length});
  out.text = std::move(answer.text);
  out.begin = profd::to_psp(Value{answer.begin});
  out.end = profd::to_psp(Value{answer.end});
  out.row_count = static_cast<std::int64_t>(answer.rows);
  out.offset = answer.offset;
  if (answer.table) {
    MarkerRows& from = *answer.table;
    psp::MarkerRows& rows = out.rows.emplace();
    rows.id = std::move(from.id);
    rows.name = std::move(from.name);
    rows.category = std::move(from.category);
    rows.thread = std::move(from.thread);
    rows.begin = all_numbers(from.begin);
    rows.end = all_numbers(from.end);
    rows.begin_text = std::move(from.begin_text);
    rows.length_text = std::move(from.length_text);
    rows.flags = std::move(from.flags);
    for (std::vector<MarkerField>& fields : from.fields) {
      std::vector<psp::MarkerField>& to = rows.fields.emplace_back();
      for (MarkerField& field : fields) {
        psp::MarkerField& one = to.emplace_back();
        one.key = std::move(field.key);
        one.text = std::move(field.text);
      }
    }
  }
  if (answer.groups) {
    MarkerGroups& from = *answer.groups;
    psp::MarkerGroups& groups = out.groups.emplace();
    groups.name = std::move(from.name);
    groups.category = std::move(from.category);
    groups.count = all_as<std::int64_t>(from.count);
    groups.count_text = std::move(from.count_text);
    groups.length = all_numbers(from.length);
    groups.length_text = std::move(from.length_text);
    groups.mean_text = std::move(from.mean_text);
    groups.most_text = std::move(from.most_text);
    groups.first = all_numbers(from.first);
  }
  return out;
}

psp::MarkerTracksResult to_psp(MarkerTracksAnswer answer) {
  psp::MarkerTracksResult out;
  write_head(std::move(answer.head), out);
  write_window(answer, out);
  out.names = std::move(answer.names);
  out.track_count = answer.track_count;
  out.left_text = said(std::move(answer.left_text));
  for (MarkerTracksAnswer::Track& track : answer.tracks) {
    psp::MarkerTrack& to = out.tracks.emplace_back();
    to.name = std::move(track.name);
    to.filter = said(std::move(track.filter));
    to.lanes = track.lanes;
    to.count = static_cast<std::int64_t>(track.count);
    to.count_text = format_count(track.count);
    to.no_lane = static_cast<std::int64_t>(track.no_lane);
    to.boxes.lane = std::move(track.boxes.lane);
    to.boxes.x = all_numbers(track.boxes.x);
    to.boxes.width = all_numbers(track.boxes.width);
    to.boxes.count = all_as<std::int64_t>(track.boxes.count);
    to.boxes.id = std::move(track.boxes.id);
    to.boxes.name = std::move(track.boxes.name);
    to.boxes.text = std::move(track.boxes.text);
    to.boxes.flags = std::move(track.boxes.flags);
  }
  return out;
}

psp::CountersResult to_psp(CountersAnswer answer) {
  psp::CountersResult out;
  write_head(std::move(answer.head), out);
  write_window(answer, out);
  out.counter_count = answer.count;
  out.left_text = said(std::move(answer.left_text));
  for (CountersAnswer::Counter& counter : answer.counters) {
    psp::CounterTrack& to = out.counters.emplace_back();
    to.id = counter.id;
    to.name = std::move(counter.name);
    to.unit = std::move(counter.unit);
    to.owner = std::move(counter.owner);
    to.sums = counter.sums;
    to.point_count = static_cast<std::int64_t>(counter.points.n_points);
    to.before = counter.points.before;
    to.low = counter.low;
    to.high = counter.high;
    to.low_text = std::move(counter.low_text);
    to.high_text = std::move(counter.high_text);
    to.last_text = std::move(counter.last_text);
    for (const std::int64_t time : counter.points.time)
      to.points.x.push_back(profd::to_psp(Value{time - answer.from}));
    to.points.count = all_as<std::int64_t>(counter.points.count);
    to.points.low = std::move(counter.points.low);
    to.points.high = std::move(counter.points.high);
    to.points.last = std::move(counter.points.last);
  }
  return out;
}

void bind_markers(SessionContext& session, protocol::Binder& binder) {
  binder.request<psp::MarkersRequest>(
      [&session](psp::MarkersParams params, protocol::Reply<psp::MarkersRequest> reply) {
        MarkersRequest request;
        if (!take_view(session, params, reply, request)) return;
        request.search = std::move(params.search);
        if (params.min_length) request.min_length = params.min_length->as_int64();
        request.by_name = params.by == psp::MarkersBy::name;
        request.sort = order_of(params.sort);
        request.descending = params.descending;
        request.offset = params.offset;
        request.limit = params.limit;
        session.answer<psp::MarkersRequest>(
            std::move(reply), std::move(request),
            [](Views& views, const MarkersRequest& asked, const StopToken& stop) {
              return as_psp(markers_answer(views, asked, stop));
            },
            params.panel_id.value_or(""));
      });
  binder.request<psp::MarkerTracksRequest>(
      [&session](psp::MarkerTracksParams params, protocol::Reply<psp::MarkerTracksRequest> reply) {
        MarkerTracksRequest request;
        if (!take_view(session, params, reply, request)) return;
        request.width_px = params.width;
        request.min_width_px = params.min_width;
        request.max_boxes = params.max_boxes;
        request.max_tracks = params.tracks;
        request.search = std::move(params.search);
        if (params.min_length) request.min_length = params.min_length->as_int64();
        session.answer<psp::MarkerTracksRequest>(
            std::move(reply), std::move(request),
            [](Views& views, const MarkerTracksRequest& asked, const StopToken& stop) {
              return as_psp(marker_tracks_answer(views, asked, stop));
            },
            params.panel_id.value_or(""));
      });
  binder.request<psp::CountersRequest>(
      [&session](psp::CountersParams params, protocol::Reply<psp::CountersRequest> reply) {
        CountersRequest request;
        if (!take_view(session, params, reply, request)) return;
        request.columns = params.columns;
        request.limit = params.limit;
        request.search = std::move(params.search);
        session.answer<psp::CountersRequest>(
            std::move(reply), std::move(request),
            [](Views& views, const CountersRequest& asked, const StopToken& stop) {
              return as_psp(counters_answer(views, asked, stop));
            },
            params.panel_id.value_or(""));
      });
}

}  // namespace profd
